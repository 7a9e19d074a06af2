/** A list as HTML: its filters, its rows in the wanted order, how many there are, and the pages beside this one. */
import type { SignedIn } from "../../core/sessions/session.ts";
import type { ConsoleFrame } from "../../html/components/console-layout.ts";
import { emptyState } from "../../html/components/empty-state.ts";
import { selectField, textField } from "../../html/components/fields.ts";
import { filterBar, noResults } from "../../html/components/filter-bar.ts";
import { livePiece } from "../../html/components/live.ts";
import { pagination } from "../../html/components/pagination.ts";
import { table } from "../../html/components/table.ts";
import { type Content, type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { parseQuery } from "../../http/form-body.ts";
import { oldReaderFor, withOldReads } from "../old-reads.ts";
import { type ConsoleDeps, consolePath, queryString, type Visit } from "../page.ts";
import { bulkBar } from "./bulk-acts.ts";
import type { Choices, Filter, List, ListFilter, ListFrame } from "./list.ts";
import { filteredUri, isNarrowed, keptQuery, readFilter } from "./list-address.ts";
import { orderQuery, type PlacedRows, placeRows, readListPlace, totalOf } from "./list-place.ts";
import { homeOfList, showSavedFilters } from "./saved-filters.ts";

export interface RenderedList {
  readonly section: Html;
  /** There is nothing, and nothing was searched for. */
  readonly isEmpty: boolean;
}

interface Loaded<Row, C extends Choices> {
  readonly filter: Filter<C>;
  readonly placed: PlacedRows<Row>;
  /** The order, without the length of a page. */
  readonly order: Readonly<Record<string, string | undefined>>;
  /** Where the same page is. */
  readonly place: Readonly<Record<string, string | undefined>>;
}

type Reader = Pick<SignedIn, "user">;

/** As a list is read: old by a second at most, in all its parts. */
type ReadList<Deps> = <T>(work: (old: Deps) => Promise<T>) => Promise<T>;

const listReader = <Deps extends ConsoleDeps>(deps: Deps, visit: Visit): ReadList<Deps> =>
  withOldReads(deps, oldReaderFor(deps, visit));

/** One page of rows, as the address says. */
async function loadRows<Deps, Row extends { readonly id: string }, Sort extends string, C extends Choices>(
  read: ReadList<Deps>,
  { organisation, request }: Visit,
  list: List<Deps, Row, Sort, C>,
  messages: Messages,
): Promise<Loaded<Row, C>> {
  const { values } = parseQuery(request);
  const filter: Filter<C> = readFilter(list.filters, values);
  const place = readListPlace<Sort>(values, list.sorts);
  const order = orderQuery(place, list.sorts);
  const query = { filter, page: place, limit: place.size + 1 };
  const rows = await read((deps) => list.rows({ deps, organisation, messages }, query));
  const placed = placeRows(rows, place, {
    sorts: list.sorts,
    cursor: (row) => ({ value: list.sorts[place.sort].value(row), id: row.id }),
    uri: (more) => filteredUri(list, organisation, filter, { ...more, ...keptQuery(list, values) }),
  });
  const at = place.before ? "before" : place.after ? "after" : undefined;
  const beside = at && { [at]: values.get(at), from: String(place.from) };
  return { filter, placed, order: { ...order, size: undefined }, place: { ...order, ...beside } };
}

/** The list alone, for a page that has more than it. */
export async function renderList<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  deps: Deps,
  visit: Visit,
  frame: ConsoleFrame,
  reader: Reader,
  list: List<Deps, Row, Sort, C>,
): Promise<RenderedList> {
  const { organisation } = visit;
  const { messages } = frame;
  const read = listReader(deps, visit);
  const asked: Filter<C> = readFilter(list.filters, parseQuery(visit.request).values);
  const form = filterForm(list, visit, asked, messages);
  const saved = await savedFiltersOf(deps, visit, list, messages);
  const instead = await read(async (old) =>
    list.insteadOfRows?.({ deps: old, organisation, messages }, asked),
  );
  if (instead) return { isEmpty: false, section: listSection(form, [saved, instead]) };

  const loaded = await loadRows(read, visit, list, messages);
  const { filter, placed, order } = loaded;
  const isNothing = placed.shown.length === 0;
  const texts = list.texts(messages, organisation);
  if (isNothing && !isNarrowed(filter) && placed.newestUri === undefined && texts.none !== undefined) {
    const action = (list.emptyAction ?? list.create)?.(frame);
    return { isEmpty: true, section: emptyState({ title: texts.none, text: texts.noneText, action }) };
  }
  const total = await totalOf(placed, (max) =>
    read((old) => list.count({ deps: old, organisation, messages }, filter, max)),
  );
  const pager = pagination({
    ...placed,
    range: isNothing ? undefined : { ...placed.range, ...total },
    exportUri: list.export && filteredUri(list, organisation, filter, order, "/export"),
    messages,
  });
  const rows = renderRows(deps, visit, list, loaded, reader, messages);
  return { isEmpty: false, section: listSection(form, [saved, rows, pager]) };
}

const savedFiltersOf = async <
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  deps: Deps,
  { organisation, request }: Visit,
  list: List<Deps, Row, Sort, C>,
  messages: Messages,
): Promise<Content> => {
  if (list.savedAs === undefined) return undefined;
  const { values } = parseQuery(request);
  const wanted = { list: list.savedAs, home: homeOfList(list), values };
  return showSavedFilters(deps, organisation, wanted, messages);
};

/** The part that scripts/filter-bar.js replaces while a search is typed. */
const listSection = (form: Html, content: Content): Html =>
  html`${form}<div class="list" data-list>${content}</div>
`;

/** The rows alone, for the script that keeps them up to date. */
export const renderLiveRows = async <
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  deps: Deps,
  visit: Visit,
  list: List<Deps, Row, Sort, C>,
  reader: Reader,
  messages: Messages,
): Promise<Html> =>
  renderRows(
    deps,
    visit,
    list,
    await loadRows(listReader(deps, visit), visit, list, messages),
    reader,
    messages,
  );

function renderRows<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  deps: Deps,
  visit: Visit,
  list: List<Deps, Row, Sort, C>,
  loaded: Loaded<Row, C>,
  { user: reader }: Reader,
  messages: Messages,
): Html {
  const { organisation } = visit;
  const { filter, placed, place } = loaded;
  const frame: ListFrame = {
    consoleUri: (rest) => consolePath(organisation, rest),
    messages,
    organisation,
    reader,
  };
  const rows = placed.shown.length === 0 ? noResults(messages) : rowTable(deps, visit, list, loaded, frame);
  const { live } = list;
  if (!live) return rows;
  const says = placed.shown.map((row) => live.says(row, messages));
  return html`<div${livePiece(filteredUri(list, organisation, filter, place, "/live"), says)}>${rows}</div>
`;
}

function rowTable<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  deps: Deps,
  visit: Visit,
  list: List<Deps, Row, Sort, C>,
  { filter, placed }: Loaded<Row, C>,
  frame: ListFrame,
): Html {
  const { messages } = frame;
  const { acts } = list;
  const columns = list.columns.filter(({ isShown }) => isShown?.(filter) ?? true);
  const selectable = placed.shown.filter((row) => acts && (list.isSelectable?.(row) ?? true));
  return table({
    label: list.texts(messages, visit.organisation).title,
    columns: columns.map(({ label, sort }) =>
      sort === undefined ? label(messages) : { label: label(messages), sort: placed.sortOf(sort) },
    ),
    rows: placed.shown.map((row) => ({
      id: `${list.noun}-${row.id}`,
      cells: columns.map(({ cell }) => cell(row, frame)),
      ...(list.rowActions && { actions: list.rowActions(row, frame) }),
      ...(selectable.includes(row) && { selection: { value: row.id, name: list.nameOf(row, messages) } }),
    })),
    bulk: selectable.length > 0 && acts ? bulkBar(deps, visit, list, acts, messages) : undefined,
    messages,
  });
}

function filterForm<C extends Choices>(
  list: Pick<List<never, never, never, C>, "uri" | "texts" | "keeps"> & {
    filters: { readonly [Name in keyof C]: ListFilter<C[Name]> };
  },
  { organisation, request }: Visit,
  filter: Filter<C>,
  messages: Messages,
): Html {
  const chosen: Readonly<Record<string, string | undefined>> = filter;
  const kept = keptQuery(list, parseQuery(request).values);
  return filterBar({
    action: list.uri(organisation),
    allUri: list.uri(organisation, queryString(kept)),
    kept: Object.entries(kept).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
    label: list.texts(messages, organisation).search,
    value: filter.search,
    isSearch: isNarrowed(filter),
    filters: Object.entries(list.filters as Readonly<Record<string, ListFilter>>).map(([id, one]) =>
      filterField(id, one, chosen[id] ?? "", messages),
    ),
    messages,
  });
}

function filterField(id: string, filter: ListFilter, value: string, messages: Messages): Html {
  const { choices } = filter;
  const label = filter.label(messages);
  if (choices === undefined) return textField({ id, label, value, maxLength: 100, messages });
  const names = filter.names?.(messages) ?? {};
  const any = filter.any && [{ value: "", label: filter.any(messages) }];
  const all = choices.map((choice) => ({ value: choice, label: names[choice] ?? choice }));
  return selectField({ id, label, value, choices: [...(any ?? []), ...all], messages });
}

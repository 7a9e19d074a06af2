/** What the lists of the console share: the search text of an address, one page of rows, and the page around them. */
import { isUuid } from "@signet/protocol/hash";
import { buttonLink } from "../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../html/components/console-layout.ts";
import { emptyState } from "../html/components/empty-state.ts";
import { selectField } from "../html/components/fields.ts";
import { filterBar, noResults } from "../html/components/filter-bar.ts";
import { type PaginationView, pagination } from "../html/components/pagination.ts";
import { table } from "../html/components/table.ts";
import { toast } from "../html/components/toast.ts";
import { type Content, type Html, html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";

export const ROWS_PER_PAGE = 25;

const MAX_SEARCH_LETTERS = 100;

export const readSearch = (values: ReadonlyMap<string, string>): string =>
  (values.get("search") ?? "").trim().slice(0, MAX_SEARCH_LETTERS);

/** The id that the page before ended with; anything else begins at the beginning. */
export const readCursor = (cursor = ""): string | undefined =>
  isUuid(cursor) ? cursor.toLowerCase() : undefined;

/**
 * @param rows one more than a page, when there are more
 * @returns the rows to show, and the last of them when more follow
 */
export function splitPage<Row>(
  rows: readonly Row[],
  size = ROWS_PER_PAGE,
): { readonly shown: readonly Row[]; readonly last: Row | undefined } {
  const shown = rows.slice(0, size);
  return { shown, last: rows.length > size ? shown.at(-1) : undefined };
}

/** Where the pager leads. @param uri the list's address, from the beginning or after a row */
export const pageUris = <Cursor>(
  uri: (after?: Cursor) => string,
  after: Cursor | undefined,
  last: Cursor | undefined,
) => ({
  newestUri: after === undefined ? undefined : uri(),
  olderUri: last === undefined ? undefined : uri(last),
});

/** Chooses one value of a member, or any. */
type Filter = {
  id: string;
  label: string;
  any: string;
  value: string | undefined;
  choices: readonly string[];
  /** By choice. */
  names: Readonly<Record<string, string>>;
};

export type ListView = ConsoleFrame &
  Pick<Parameters<typeof table>[0], "columns" | "rows" | "bulk"> &
  Pick<PaginationView, "newestUri" | "previousUri" | "olderUri" | "range" | "sizes"> & {
    title: string;
    summary: string;
    label: string;
    search: string;
    filters?: readonly Filter[];
    /** The list's path below the console. */
    path: string;
    /** The button of `new`, beside the heading. */
    create: { id: string; label: string };
    done: string | undefined;
    /** Beside the button of `new`. */
    more?: Content;
    /** In place of the list when there is nothing, and nothing was searched for; the button of `new` without another action. */
    empty?: { title: string; text: string; action?: Html };
  };

export function listPage(view: ListView): Html {
  const { title, rows, search, filters = [], messages } = view;
  const action = view.consoleUri(view.path);
  const create = buttonLink({ ...view.create, uri: `${action}/new`, kind: "primary" });
  const isSearch = search !== "" || filters.some(({ value }) => value !== undefined);
  const isEmpty = rows.length === 0 && !isSearch && view.newestUri === undefined;
  const empty = isEmpty ? view.empty : undefined;
  const list = () => [
    filterBar({ ...view, action, value: search, isSearch, filters: filters.map(filterField(messages)) }),
    rows.length === 0 ? noResults(messages) : table({ ...view, label: title }),
    pagination(view),
  ];
  return consoleLayout({
    ...view,
    breadcrumbs: [],
    actions: empty && !empty.action ? undefined : html`${view.more}${create}`,
    notice: view.done === undefined ? undefined : toast(view.done, messages),
    body: html`<section class="card" aria-label="${title}">
${empty ? emptyState({ action: create, ...empty }) : list()}</section>
`,
  });
}

const filterField =
  (messages: Messages) =>
  ({ id, label, any, value = "", choices, names }: Filter): Html =>
    selectField({
      id,
      label,
      value,
      choices: [
        { value: "", label: any },
        ...choices.map((choice) => ({ value: choice, label: names[choice] ?? choice })),
      ],
      messages,
    });

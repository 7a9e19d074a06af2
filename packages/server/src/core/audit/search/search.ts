/** Searches an organisation's audit log page by page, however long it is and whatever the filter. */
import type { Db } from "../../../db/open.ts";
import { auditActions } from "../actions.ts";
import { actingKinds } from "../actor-names.ts";
import type { NamedKind, StoredEvent } from "../audit.store.ts";
import { countRange, type EventPosition, type IndexFilter, readRange } from "./search.store.ts";

export interface AuditFilter {
  /** Events that match any of these: what was found for the text of a search box (find-subjects.ts). */
  readonly subjects?: readonly IndexFilter[];
  /** Any of these, as in `AuditEvent.actor`. */
  readonly actors?: readonly string[];
  /** Any of these, e.g. all of a group. */
  readonly actions?: readonly string[];
  readonly target?: string;
  readonly address?: string;
  /** Milliseconds, inclusive. */
  readonly from?: number;
  /** Milliseconds, exclusive. */
  readonly to?: number;
  /** Anywhere in an event, case-insensitive. */
  readonly text?: string;
}

/** @param text an action, or a prefix that ends in a dot, e.g. `device.`. @returns an empty list when nothing matches */
export const matchActions = (text: string): readonly string[] =>
  auditActions.filter((action) => (text.endsWith(".") ? action.startsWith(text) : action === text));

/** The part of the filter to look up by index: the one that is likely to be most selective. */
export function indexFiltersOf(filter: AuditFilter): readonly IndexFilter[] {
  const { subjects, actors, actions, target, address } = filter;
  const indexFilters = (column: IndexFilter["column"], values: readonly string[]) =>
    values.map((value) => ({ column, value }));
  if (subjects) return subjects;
  if (target !== undefined) return indexFilters("target", [target]);
  if (address !== undefined) return indexFilters("address", [address]);
  if (actors) return indexFilters("actor", actors);
  return actions ? indexFilters("action", actions) : [];
}

/** Events by a record or about it; of an application (`client`), also those that happened through it. */
export const subjectFilters = (kind: NamedKind | undefined, id: string): readonly IndexFilter[] => [
  ...(kind !== undefined && actingKinds.includes(kind)
    ? [{ column: "actor" as const, value: `${kind}:${id}` }]
    : []),
  { column: "target", value: id },
  { column: "subject", value: id },
  ...(kind === "client" ? [{ column: "application" as const, value: id }] : []),
];

/** Whether the index filters alone decide, so that no row is read in vain. */
const isIndexedFully = ({ from: _, to: __, text, ...filter }: AuditFilter): boolean =>
  text === undefined && Object.values(filter).filter((part) => part !== undefined).length <= 1;

export const isUnfiltered = (filter: AuditFilter): boolean =>
  Object.values(filter).every((part) => part === undefined);

/** @param filter its subjects are always looked up by index, and not checked again */
export function matches(filter: AuditFilter, event: StoredEvent): boolean {
  const { actors, actions, target, address, text } = filter;
  return (
    (actors?.includes(event.actor) ?? true) &&
    (actions?.includes(event.action) ?? true) &&
    (target === undefined || event.target === target) &&
    (address === undefined || event.address === address) &&
    (text === undefined || wholeText(event).includes(text.toLowerCase()))
  );
}

const wholeText = ({
  actor,
  action,
  target = "",
  address = "",
  details,
  context = {},
}: StoredEvent): string =>
  [actor, action, target, address, JSON.stringify(details), JSON.stringify(context)].join("\n").toLowerCase();

/** An empty list of subjects, actors or actions matches nothing. */
export const isUnsatisfiable = ({ subjects, actors, actions, from, to }: AuditFilter): boolean =>
  [subjects, actors, actions].some((part) => part?.length === 0) ||
  (from !== undefined && to !== undefined && from >= to);

export interface AuditPage {
  /** Newest first. */
  readonly events: readonly StoredEvent[];
  /** The cursor of the next page; undefined on the last one. */
  readonly next?: string;
  /** The cursor of the page of newer events, as `after`; only of a page that was read so. */
  readonly previous?: string;
  /** Set when the page may be short because the scan limit was reached: how far back it got, milliseconds. */
  readonly searchedBackTo?: number;
}

/** For filters that no index decides. */
const BATCH = 1_000;
/** Events scanned for one page: some hundredths of a second. */
const MAX_SCANNED = 10_000;

export interface AuditPlace {
  /** `next` of the previous page. */
  readonly before?: string | undefined;
  /** The first event of the next page: the events that are just newer. `before` is ignored. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export async function searchAuditEvents(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  page: AuditPlace,
): Promise<AuditPage> {
  if (isUnsatisfiable(filter)) return { events: [] };
  const newerThan = parseCursor(page.after);
  if (newerThan) return searchNewer(db, orgId, filter, { after: newerThan, limit: page.limit });
  const indexFilters = indexFiltersOf(filter);
  const batch = isIndexedFully(filter) ? page.limit + 1 : BATCH;
  const events: StoredEvent[] = [];
  let after = parseCursor(page.before);
  for (let scanned = 0; ; ) {
    const { from, to } = filter;
    const range = { orgId, from, to, after, order: "newest first", limit: batch } as const;
    const found = await readRange(db, indexFilters, range);
    for (const event of found) {
      if (!matches(filter, event)) continue;
      // There is another page.
      if (events.length === page.limit) return { events, next: formatCursor(events.at(-1) ?? event) };
      events.push(event);
    }
    const last = found.at(-1);
    if (!last || found.length < batch) return { events };
    scanned += found.length;
    if (scanned >= MAX_SCANNED) return { events, next: formatCursor(last), searchedBackTo: last.at };
    after = last;
  }
}

/** The page that ends just before an event: read towards the newest, and no further than its length. */
async function searchNewer(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  page: { readonly after: EventPosition; readonly limit: number },
): Promise<AuditPage> {
  const indexFilters = indexFiltersOf(filter);
  const limit = isIndexedFully(filter) ? page.limit + 1 : BATCH;
  const events: StoredEvent[] = [];
  let oldest: EventPosition | undefined;
  const found = (rest: Pick<AuditPage, "previous">): AuditPage => {
    const from = events[0] ?? oldest;
    return { events: events.toReversed(), ...(from && { next: formatCursor(from) }), ...rest };
  };
  let { after } = page;
  for (let scanned = 0; ; ) {
    const { from, to } = filter;
    const range = { orgId, from, to, after, order: "oldest first", limit } as const;
    const batch = await readRange(db, indexFilters, range);
    oldest ??= batch[0];
    for (const event of batch) {
      if (!matches(filter, event)) continue;
      if (events.length === page.limit) return found({ previous: formatCursor(events.at(-1) ?? event) });
      events.push(event);
    }
    const last = batch.at(-1);
    if (!last || batch.length < limit) return found({});
    scanned += batch.length;
    if (scanned >= MAX_SCANNED) return found({ previous: formatCursor(last) });
    after = last;
  }
}

/** @returns undefined where no index decides, so that every event would have to be read; no more than `max` */
export async function countAuditEvents(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  max: number,
): Promise<number | undefined> {
  if (isUnsatisfiable(filter)) return 0;
  if (!isIndexedFully(filter)) return undefined;
  const { from, to } = filter;
  return countRange(db, indexFiltersOf(filter), { orgId, from, to, max });
}

/** Events by a record or about it, newest first: for its own page. */
export const listActivity = (
  db: Db,
  orgId: string,
  subject: { readonly kind?: NamedKind; readonly id: string },
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<AuditPage> =>
  searchAuditEvents(db, orgId, { subjects: subjectFilters(subject.kind, subject.id) }, page);

export const formatCursor = ({ at, id }: EventPosition): string => `${at}.${id}`;

/** An invalid cursor starts at the beginning. */
function parseCursor(text: string | undefined): EventPosition | undefined {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text ?? "") ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}

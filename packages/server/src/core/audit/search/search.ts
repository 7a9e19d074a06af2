/** Searches an organisation's audit log page by page, however long it is and whatever the filter. */
import type { Db } from "../../../db/open.ts";
import type { StoredEvent } from "../audit.store.ts";
import { type AuditFilter, indexFiltersOf, isIndexedFully, isUnsatisfiable, matches } from "./filter.ts";
import { type EventPosition, readRange } from "./search.store.ts";

export interface AuditPage {
  /** Newest first. */
  readonly events: readonly StoredEvent[];
  /** The cursor of the next page; undefined on the last one. */
  readonly next?: string;
  /** Set when the page may be short because the scan limit was reached: how far back it got, milliseconds. */
  readonly searchedBackTo?: number;
}

/** For filters that no index decides. */
const BATCH = 1_000;
/** Events scanned for one page: some hundredths of a second. */
const MAX_SCANNED = 10_000;

/** @param page.before `next` of the previous page */
export async function searchAuditEvents(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<AuditPage> {
  if (isUnsatisfiable(filter)) return { events: [] };
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

/** Events with a user as actor or target, newest first: for the user's own page and an administrator's. */
export const listUserActivity = (
  db: Db,
  orgId: string,
  userId: string,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<AuditPage> => searchAuditEvents(db, orgId, { about: userId }, page);

const formatCursor = ({ at, id }: EventPosition): string => `${at}.${id}`;

/** An invalid cursor starts at the beginning. */
function parseCursor(text: string | undefined): EventPosition | undefined {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text ?? "") ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}

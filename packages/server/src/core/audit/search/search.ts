/** Reading an organisation's audit log page by page, however long it is and whatever is looked for. */
import type { Db } from "../../../db/open.ts";
import type { KeptEvent } from "../audit.store.ts";
import { type AuditFilter, findsNothing, isLedAlone, leadsOf, matches } from "./filter.ts";
import { type Place, readStretch } from "./search.store.ts";

export interface AuditPage {
  /** Newest first. */
  readonly events: readonly KeptEvent[];
  /** For the page after this one; undefined when there is none. */
  readonly next?: string;
  /**
   * The page may have fewer than were asked for: so many events were looked at that the rest is left to the next page.
   * Milliseconds, how far it has come.
   */
  readonly lookedBackTo?: number;
}

/** When what is looked for has no index of its own. */
const BATCH = 1_000;
/** For one page: some hundredths of a second. */
const MOST_LOOKED_AT = 10_000;

/** @param page.before what `next` of the page before said */
export async function searchAuditEvents(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<AuditPage> {
  if (findsNothing(filter)) return { events: [] };
  const leads = leadsOf(filter);
  const batch = isLedAlone(filter) ? page.limit + 1 : BATCH;
  const events: KeptEvent[] = [];
  let after = readPlace(page.before);
  for (let lookedAt = 0; ; ) {
    const { from, to } = filter;
    const found = await readStretch(db, leads, {
      orgId,
      from,
      to,
      after,
      order: "newest first",
      limit: batch,
    });
    for (const event of found) {
      if (!matches(filter, event)) continue;
      // There is one more than the page takes.
      if (events.length === page.limit) return { events, next: placeText(events.at(-1) ?? event) };
      events.push(event);
    }
    const last = found.at(-1);
    if (!last || found.length < batch) return { events };
    lookedAt += found.length;
    if (lookedAt >= MOST_LOOKED_AT) return { events, next: placeText(last), lookedBackTo: last.at };
    after = last;
  }
}

/** What a user did, and what was done to them, newest first: for their own page and an administrator's. */
export const listUserActivity = (
  db: Db,
  orgId: string,
  userId: string,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<AuditPage> => searchAuditEvents(db, orgId, { about: userId }, page);

const placeText = ({ at, id }: Place): string => `${at}.${id}`;

/** Anything else is the beginning: somebody has played with the address. */
function readPlace(text: string | undefined): Place | undefined {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text ?? "") ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}

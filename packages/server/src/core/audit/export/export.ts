/** The audit log for other programs: read in batches, so that a long one needs no more memory than a short one. */
import type { Db } from "../../../db/open.ts";
import { type AuditFilter, findsNothing, isEverything, leadsOf, matches } from "../search/filter.ts";
import { type Place, readChained, readStretch, readWaiting } from "../search/store.ts";
import type { KeptEvent } from "../store.ts";

const BATCH = 500;
const MOST_WAITING = 5_000;

/**
 * Oldest first: all of them in the order of the chain, by which the export can be verified, and those that wait to be
 * chained at the end; with a filter in the order of time.
 */
export function exportAuditEvents(db: Db, orgId: string, filter: AuditFilter): AsyncGenerator<KeptEvent> {
  return isEverything(filter) ? everything(db, orgId) : filtered(db, orgId, filter);
}

async function* everything(db: Db, orgId: string): AsyncGenerator<KeptEvent> {
  let after = 0;
  let waiting: readonly KeptEvent[] = [];
  // Twice, for those that are chained between the one look and the other.
  for (const isAgain of [false, true]) {
    for (;;) {
      const batch = await readChained(db, orgId, { after, limit: BATCH });
      yield* batch;
      after = batch.at(-1)?.seq ?? after;
      if (isAgain) waiting = without(waiting, batch);
      if (batch.length < BATCH) break;
    }
    if (!isAgain) waiting = await readWaiting(db, orgId, MOST_WAITING);
  }
  yield* waiting;
}

function without(events: readonly KeptEvent[], others: readonly KeptEvent[]): readonly KeptEvent[] {
  const ids = new Set(others.map(({ id }) => id));
  return events.filter(({ id }) => !ids.has(id));
}

async function* filtered(db: Db, orgId: string, filter: AuditFilter): AsyncGenerator<KeptEvent> {
  if (findsNothing(filter)) return;
  const leads = leadsOf(filter);
  const { from, to } = filter;
  for (let after: Place | undefined; ; ) {
    const batch = await readStretch(db, leads, {
      orgId,
      from,
      to,
      after,
      order: "oldest first",
      limit: BATCH,
    });
    for (const event of batch) if (matches(filter, event)) yield event;
    if (batch.length < BATCH) return;
    after = batch.at(-1);
  }
}

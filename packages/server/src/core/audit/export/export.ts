/** The audit log for other programs: read in batches, so that a long one needs no more memory than a short one. */
import type { Db } from "../../../db/open.ts";
import type { KeptEvent } from "../audit.store.ts";
import { type AuditFilter, findsNothing, isEverything, leadsOf, matches } from "../search/filter.ts";
import { type Place, readChained, readEvents, readStretch, readWaitingIds } from "../search/search.store.ts";

const BATCH = 500;

/**
 * Oldest first: all of them in the order of the chain, by which the export can be verified, and those that wait to be
 * chained at the end; with a filter in the order of time.
 */
export function exportAuditEvents(db: Db, orgId: string, filter: AuditFilter): AsyncGenerator<KeptEvent> {
  return isEverything(filter) ? everything(db, orgId) : filtered(db, orgId, filter);
}

async function* everything(db: Db, orgId: string): AsyncGenerator<KeptEvent> {
  const first = yield* chained(db, orgId, 0);
  const waiting = await waitingIds(db, orgId);
  // Once more, for those that were chained between the one look and the other; the rest waits to whoever reads this.
  for await (const event of chained(db, orgId, first)) {
    waiting.delete(event.id);
    yield event;
  }
  const ids = [...waiting];
  for (let at = 0; at < ids.length; at += BATCH)
    for (const { seq: _, hash: __, ...event } of await readEvents(db, orgId, ids.slice(at, at + BATCH)))
      yield event;
}

/** @returns the place after which there is nothing more */
async function* chained(db: Db, orgId: string, from: number): AsyncGenerator<KeptEvent, number> {
  for (let after = from; ; ) {
    const batch = await readChained(db, orgId, { after, limit: BATCH });
    yield* batch;
    after = batch.at(-1)?.seq ?? after;
    if (batch.length < BATCH) return after;
  }
}

/** In their order; of a chain that stands still, as many as have happened since. */
async function waitingIds(db: Db, orgId: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = ""; ; ) {
    const page = await readWaitingIds(db, orgId, { after, limit: BATCH });
    for (const id of page) ids.add(id);
    if (page.length < BATCH) return ids;
    after = page.at(-1) ?? after;
  }
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

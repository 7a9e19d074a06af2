/**
 * Moves targets along the audit chain of their organisation and queues what they asked for. The chain has every committed event once,
 * in one order; the place and the deliveries are stored together, so that nothing is left out and nothing is queued twice.
 */
import type { StoredEvent } from "../audit/audit.store.ts";
import { readChained } from "../audit/search/search.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { insertDeliveries } from "./deliveries.store.ts";
import type { TargetKinds } from "./target-kind.ts";
import {
  listOrganisationsBehind,
  listTargetsBehind,
  moveCursor,
  type TargetBehind,
} from "./targets.store.ts";

export interface FeedDeps extends CoreDeps {
  readonly kinds: TargetKinds;
}

type FeedAllDeps = FeedDeps & { onError(error: unknown): void };

const BATCH = 200;
const ORGANISATIONS = 100;

/** All targets of one organisation, to the end of its chain. @returns how many deliveries were queued */
export async function feedOrganisation(deps: FeedDeps, orgId: string): Promise<number> {
  let queued = 0;
  for (;;) {
    const behind = await listTargetsBehind(deps.database.query, orgId, Object.keys(deps.kinds));
    if (behind.length === 0) return queued;
    // Most are at the same place.
    const read = new Map<number, readonly StoredEvent[]>();
    for (const target of behind) {
      const { cursorSeq } = target;
      const page = { after: cursorSeq, limit: BATCH };
      const events = read.get(cursorSeq) ?? (await readChained(deps.database.query, orgId, page));
      read.set(cursorSeq, events);
      queued += await feedTarget(deps, target, events);
    }
  }
}

async function feedTarget(
  { database, clock, kinds }: FeedDeps,
  target: TargetBehind,
  events: readonly StoredEvent[],
): Promise<number> {
  const messages = (await kinds[target.kind]?.select(target, events)) ?? [];
  return database.transaction(async (tx) => {
    const now = clock();
    // None are left of those whose time to be kept is over, or whose organisation is being deleted.
    const to = events.at(-1)?.seq ?? target.chainSeq;
    const after = await moveCursor(tx, target, { to, count: messages.length, now });
    if (after === undefined) return 0;
    await insertDeliveries(tx, target, messages, { after, now });
    return messages.length;
  });
}

/** Those whose node died between the chain and the queue, and those of commands. */
export async function feedAll(deps: FeedAllDeps, isStopped: () => boolean): Promise<number> {
  const kinds = Object.keys(deps.kinds);
  let queued = 0;
  let after = "";
  for (;;) {
    const page = { after, limit: ORGANISATIONS, kinds };
    const behind = await listOrganisationsBehind(deps.database.query, page);
    for (const orgId of behind) if (!isStopped()) queued += await feedOne(deps, orgId);
    after = behind.at(-1) ?? "";
    if (behind.length < ORGANISATIONS || isStopped()) return queued;
  }
}

/** A fault of one organisation's events does not keep the others waiting. */
export async function feedOne(deps: FeedAllDeps, orgId: string): Promise<number> {
  try {
    return await feedOrganisation(deps, orgId);
  } catch (error) {
    deps.onError(error);
    return 0;
  }
}

/**
 * Ledgers in the background of `signet start`: each second what was recorded is appended and its checkpoint signed, by the node
 * that has the lease; then witnesses are asked. Entries of a node that died are appended by the next one, within seconds.
 */
import { newUuid } from "@signet/protocol/uuid";
import { releaseLease, takeLease } from "../housekeeping/housekeeping.store.ts";
import { appendRound } from "./append.ts";
import { type CosignDeps, cosignNewest } from "./cosign.ts";
import { nextOrganisationToCosign } from "./witnesses.store.ts";

export interface LedgerWorkerDeps extends CosignDeps {
  onError(error: unknown): void;
}

const EVERY_MS = 1_000;
/** Renewed by each round; with a round after it, well below the merge delay of ten seconds. */
const LEASE_MS = 5_000;
/** A witness's word on a log that rests grows old: agents ask how old it is. */
const REFRESH_MS = 60_000;
const LEASE = "ledger";
/** Organisations whose witnesses are asked at the same time. */
const MAX_ASKING = 32;
const MAX_REMEMBERED = 10_000;

export interface LedgerWorker {
  /** One round. @returns the number of entries that were appended */
  round(): Promise<number>;
  /** Resolves when no witness is being asked. */
  settled(): Promise<void>;
  /** Stops, and appends what this node has recorded last. */
  stop(): Promise<void>;
}

export function ledgerWorker(deps: LedgerWorkerDeps): LedgerWorker {
  const holder = newUuid();
  const { query } = deps.database;
  let isStopped = false;
  const asking = new Map<string, Promise<void>>();
  const grewMeanwhile = new Set<string>();
  const askedAt = new Map<string, number>();
  const cosign = (orgId: string) => {
    if (asking.has(orgId)) grewMeanwhile.add(orgId);
    if (asking.has(orgId) || asking.size >= MAX_ASKING) return;
    if (askedAt.size >= MAX_REMEMBERED) askedAt.clear();
    askedAt.set(orgId, deps.clock());
    const asked = cosignNewest(deps, orgId)
      .then(() => {}, deps.onError)
      .finally(() => {
        asking.delete(orgId);
        if (grewMeanwhile.delete(orgId) && !isStopped) cosign(orgId);
      });
    asking.set(orgId, asked);
  };
  const refresh = async () => {
    let after: string | undefined = "";
    while (asking.size < MAX_ASKING) {
      after = await nextOrganisationToCosign(query, { after, before: deps.clock() - REFRESH_MS });
      if (after === undefined) return;
      // A witness that is away is asked again as seldom as one that answers.
      if ((askedAt.get(after) ?? 0) < deps.clock() - REFRESH_MS) cosign(after);
    }
  };
  const failed = (_orgId: string, error: unknown) => deps.onError(error);
  const round = async () => {
    let appended = 0;
    for (let last = 1; last > 0; appended += last) {
      const now = deps.clock();
      if (!(await takeLease(query, { name: LEASE, holder, now, until: now + LEASE_MS }))) return appended;
      last = await appendRound({ ...deps, grown: cosign, failed, isStopped: () => isStopped });
    }
    await refresh();
    return appended;
  };
  return {
    round,
    settled: async () => {
      while (asking.size > 0) await Promise.all(asking.values());
    },
    stop: async () => {
      await round();
      isStopped = true;
      await Promise.all(asking.values());
      await releaseLease(query, { name: LEASE, holder, now: deps.clock() });
    },
  };
}

/** @returns a function that stops it and waits for what is under way */
export function startLedger(deps: LedgerWorkerDeps): () => Promise<void> {
  const worker = ledgerWorker(deps);
  let running: Promise<unknown> | undefined;
  const start = () => {
    running ??= worker
      .round()
      .catch(deps.onError)
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(start, EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
    await worker.stop().catch(deps.onError);
  };
}

/**
 * Ledgers in the background of `signet start`: each second what was recorded is appended and its checkpoint signed, by the node
 * that has the lease; then witnesses are asked. Entries of a node that died are appended by the next one, within seconds.
 */
import { setTimeout as pause } from "node:timers/promises";
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
/** How often is looked for witnesses whose word has grown old. */
const LOOK_MS = 10_000;
const HOUR_MS = 3_600_000;
/** A stop doesn't wait longer for witnesses. */
const STOP_MS = 2_000;

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
  const failed = throttledErrors(deps);
  const asking = cosigning(deps, (orgId, error) => failed(orgId, error));
  let refreshedAt = 0;
  const refresh = async () => {
    if (deps.clock() - refreshedAt < LOOK_MS) return;
    refreshedAt = deps.clock();
    const before = refreshedAt - REFRESH_MS;
    for (let after = await nextOrganisationToCosign(query, { after: "", before }); after !== undefined; ) {
      // A witness that is away is asked again as seldom as one that answers.
      asking.ask(after, before);
      after = await nextOrganisationToCosign(query, { after, before });
    }
  };
  const append = async () => {
    let appended = 0;
    // What is recorded meanwhile waits for the next second: a tile and a checkpoint are written for many entries, not for each.
    for (let isFull = true; isFull; ) {
      const now = deps.clock();
      if (!(await takeLease(query, { name: LEASE, holder, now, until: now + LEASE_MS }))) return appended;
      const last = await appendRound({ ...deps, grown: asking.ask, failed, isStopped: () => isStopped });
      appended += last.count;
      isFull = last.isFull;
    }
    await refresh();
    return appended;
  };
  return {
    round: append,
    settled: asking.settled,
    stop: async () => {
      asking.stop();
      try {
        await append();
      } finally {
        isStopped = true;
        // What a witness says after that is asked for again by the next node.
        await Promise.race([asking.settled(), pause(STOP_MS, undefined, { ref: false })]);
      }
      await releaseLease(query, { name: LEASE, holder, now: deps.clock() });
    },
  };
}

/** Asks the witnesses of some organisations at once, of each one checkpoint after the other. */
function cosigning(deps: CosignDeps, failed: (orgId: string, error: unknown) => void) {
  let isStopped = false;
  const running = new Map<string, Promise<void>>();
  const waiting = new Set<string>();
  const askedAt = new Map<string, number>();
  const start = (orgId: string) => {
    waiting.delete(orgId);
    if (askedAt.size >= MAX_REMEMBERED) askedAt.clear();
    askedAt.set(orgId, deps.clock());
    const asked = cosignNewest(deps, orgId)
      .then(
        () => {},
        (error: unknown) => failed(orgId, error),
      )
      .finally(() => {
        running.delete(orgId);
        const next = [...waiting].find((one) => !running.has(one));
        if (next !== undefined && !isStopped) start(next);
      });
    running.set(orgId, asked);
  };
  return {
    /** @param unlessSince not when they were asked after that time */
    ask: (orgId: string, unlessSince = Number.POSITIVE_INFINITY) => {
      if (isStopped || (askedAt.get(orgId) ?? 0) > unlessSince) return;
      if (running.has(orgId) || running.size >= MAX_ASKING) waiting.add(orgId);
      else start(orgId);
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running.values());
    },
    stop: () => {
      isStopped = true;
    },
  };
}

/** Rounds run all the time: the failure of an organisation is reported once an hour. */
function throttledErrors({ clock, onError }: LedgerWorkerDeps) {
  const reportedAt = new Map<string, number>();
  return (orgId: string, error: unknown) => {
    const now = clock();
    for (const [key, at] of reportedAt) if (at <= now - HOUR_MS) reportedAt.delete(key);
    if (reportedAt.has(orgId)) return;
    reportedAt.set(orgId, now);
    onError(error);
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

/**
 * Chains audit events in the background of `signet start`, on every node. Chain heads are logged too: a log kept
 * elsewhere has anchors that nobody can remove from the database (`signet audit verify --expect`).
 */
import type { CoreDeps } from "../../core-deps.ts";
import { chainRound } from "./chaining.ts";
import type { ChainHead } from "./link.ts";

export interface AuditChainDeps extends CoreDeps {
  /** See `storedChainKey`. */
  readonly chainKey: Uint8Array;
  /** Logs the head of a chain: at most once an hour per organisation, and at shutdown. */
  noteHead(head: ChainHead): void;
  /** Called each time that a chain has grown here. */
  moved?(head: ChainHead): void;
  onError(error: unknown): void;
}

/** What is sent of an event (core/event-deliveries) waits for its place in the chain. */
const ROUND_INTERVAL_MS = 250;
const HOUR_MS = 3_600_000;
/** For the last events of a node that stops; the rest waits for the next start. */
const STOP_MS = 3_000;

/** @returns a function that chains the remaining events for a few seconds at most, and stops */
export function startAuditChain(deps: AuditChainDeps): () => Promise<void> {
  const heads = headNotifier(deps);
  const failed = throttledErrors(deps);
  let isStopped = false;
  const roundDeps = {
    ...deps,
    key: deps.chainKey,
    moved: (head: ChainHead) => {
      heads.moved(head);
      deps.moved?.(head);
    },
    failed,
    isStopped: () => isStopped,
  };
  const work = async () => {
    try {
      while ((await chainRound(roundDeps)) > 0);
    } catch (error) {
      failed("", error);
    }
  };
  let round: Promise<void> | undefined;
  const startRound = () => {
    round ??= work().then(() => {
      round = undefined;
    });
  };
  const timer = setInterval(startRound, ROUND_INTERVAL_MS);
  timer.unref();
  startRound();
  return async () => {
    clearInterval(timer);
    const limit = setTimeout(() => {
      isStopped = true;
    }, STOP_MS);
    await round;
    await work();
    clearTimeout(limit);
    heads.noteAll();
  };
}

/** Logs each chain's head once an hour while it moves. Chains that have not moved for an hour are forgotten. */
function headNotifier({ clock, noteHead }: AuditChainDeps) {
  const heads = new Map<string, { loggedAt: number; unlogged: ChainHead | undefined }>();
  const forgetIdle = (before: number) => {
    for (const [orgId, { loggedAt, unlogged }] of heads) {
      if (loggedAt > before) continue;
      if (unlogged) noteHead(unlogged);
      heads.delete(orgId);
    }
  };
  return {
    moved: (head: ChainHead) => {
      const now = clock();
      forgetIdle(now - HOUR_MS);
      const known = heads.get(head.orgId);
      if (known) known.unlogged = head;
      else {
        noteHead(head);
        heads.set(head.orgId, { loggedAt: now, unlogged: undefined });
      }
    },
    noteAll: () => {
      for (const { unlogged } of heads.values()) if (unlogged) noteHead(unlogged);
      heads.clear();
    },
  };
}

/** Rounds run all the time: each failure is logged once an hour, with "" for those of a whole round. */
function throttledErrors({ clock, onError }: AuditChainDeps) {
  const loggedAt = new Map<string, number>();
  return (orgId: string, error: unknown) => {
    const now = clock();
    for (const [key, at] of loggedAt) if (at <= now - HOUR_MS) loggedAt.delete(key);
    if (loggedAt.has(orgId)) return;
    loggedAt.set(orgId, now);
    onError(error);
  };
}

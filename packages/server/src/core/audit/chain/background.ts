/**
 * Chaining in `signet start`, on every node. It also tells the log where each chain ends: whoever keeps the log elsewhere
 * has anchors that nobody can take out of the database (`signet audit verify --expect`).
 */
import type { Database } from "../../../db/open.ts";
import type { Clock } from "../../clock.ts";
import { chainRound } from "./chaining.ts";
import { type ChainHead, chainKey } from "./link.ts";

export interface AuditChainDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly masterKey: Uint8Array;
  /** Where a chain ends: at most once an hour for each organisation, and at the stop. */
  noteHead(head: ChainHead): void;
  onError(error: unknown): void;
}

const EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;
/** For the last events of a node that stops; what is left waits for the next start. */
const STOP_MS = 3_000;

/** @returns a function that stops it, when what has happened until then is in the chain or a few seconds have passed */
export function startAuditChain(deps: AuditChainDeps): () => Promise<void> {
  const heads = notedHeads(deps);
  const failures = rareFailures(deps);
  let isStopped = false;
  const roundDeps = {
    ...deps,
    key: chainKey(deps.masterKey),
    moved: heads.moved,
    failed: failures.ofOrganisation,
    isStopped: () => isStopped,
  };
  const work = async () => {
    try {
      while ((await chainRound(roundDeps)) > 0);
    } catch (error) {
      failures.ofAll(error);
    }
  };
  let round: Promise<void> | undefined;
  const look = () => {
    round ??= work().then(() => {
      round = undefined;
    });
  };
  const timer = setInterval(look, EVERY_MS);
  timer.unref();
  look();
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

/** What has moved since it was last told of, by organisation; those of an hour ago that stand still are forgotten. */
function notedHeads({ clock, noteHead }: AuditChainDeps) {
  const heads = new Map<string, { notedAt: number; unnoted: ChainHead | undefined }>();
  const forgetOld = (before: number) => {
    for (const [orgId, { notedAt, unnoted }] of heads) {
      if (notedAt > before) continue;
      if (unnoted) noteHead(unnoted);
      heads.delete(orgId);
    }
  };
  return {
    moved: (head: ChainHead) => {
      const now = clock();
      forgetOld(now - HOUR_MS);
      const known = heads.get(head.orgId);
      if (known) known.unnoted = head;
      else {
        noteHead(head);
        heads.set(head.orgId, { notedAt: now, unnoted: undefined });
      }
    },
    noteAll: () => {
      for (const { unnoted } of heads.values()) if (unnoted) noteHead(unnoted);
      heads.clear();
    },
  };
}

/** A round a second must not fill the log with one failure. */
function rareFailures({ clock, onError }: AuditChainDeps) {
  const toldAt = new Map<string, number>();
  const tell = (of: string, error: unknown) => {
    const now = clock();
    for (const [key, at] of toldAt) if (at <= now - HOUR_MS) toldAt.delete(key);
    if (toldAt.has(of)) return;
    toldAt.set(of, now);
    onError(error);
  };
  return {
    ofOrganisation: tell,
    ofAll: (error: unknown) => tell("", error),
  };
}

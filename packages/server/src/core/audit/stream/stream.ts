/**
 * The audit stream (SIGNET_AUDIT_STREAM): every chained event of every organisation, in the order of its chain, at least once. The
 * position is kept with the chain, so that a receiver that is away, or a server that is stopped, loses nothing. One node sends at a
 * time, by a lease; an event is sent again when the position could not be stored after it.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { CoreDeps } from "../../core-deps.ts";
import { releaseLease, takeLease } from "../../housekeeping/housekeeping.store.ts";
import { readChained } from "../search/search.store.ts";
import { RefusedLines, type SendLines } from "./destination.ts";
import { findUnsent, movePosition, STREAM_LEASE, type StreamPosition } from "./stream.store.ts";
import { streamLine } from "./stream-line.ts";

export interface AuditStreamDeps extends CoreDeps {
  readonly send: SendLines;
  /** The first failure of a row of them, and those of later attempts. */
  onFailure(error: unknown, retrySeconds: number): void;
  onRecovery(): void;
  readonly times?: StreamTimes;
}

/** Milliseconds. */
export interface StreamTimes {
  /** Between two looks for new events. */
  readonly roundMs: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** Longer than a batch can take: a call ends after five seconds. */
  readonly leaseMs: number;
}

const TIMES: StreamTimes = { roundMs: 1_000, firstPauseMs: 1_000, maxPauseMs: 60_000, leaseMs: 30_000 };

/** Events of one organisation at a time: all of them come forward together. */
const BATCH = 200;
/** Of them, as receivers accept a megabyte or less (nginx's client_max_body_size); one event always goes. */
const BATCH_LETTERS = 256 * 1024;
/** Organisations in a row whose events the receiver does not take, until it is held to take nobody's. */
const MAX_REFUSED = 20;
const ORGANISATIONS = 100;

/** @returns a function that sends what is left, as far as that takes no second attempt, and stops */
export function startAuditStream(deps: AuditStreamDeps): () => Promise<void> {
  const { times = TIMES } = deps;
  const holder = newUuid();
  const stopped = new AbortController();
  let failures = 0;

  const round = async (): Promise<number> => {
    try {
      await sendUnsent(deps, holder, times);
      if (failures > 0) deps.onRecovery();
      failures = 0;
      return times.roundMs;
    } catch (error) {
      const pauseMs = Math.min(times.maxPauseMs, times.firstPauseMs * 2 ** failures++);
      deps.onFailure(error, pauseMs / 1_000);
      return pauseMs;
    }
  };
  const run = async () => {
    while (!stopped.signal.aborted) await pause(await round(), stopped.signal);
  };
  const running = run();
  return async () => {
    stopped.abort();
    await running;
    if (failures === 0) await round();
    await giveBackLease(deps, holder).catch(() => {});
  };
}

/** Another node goes on at once, as far as this one has it. */
const giveBackLease = ({ database, clock }: AuditStreamDeps, holder: string): Promise<boolean> =>
  releaseLease(database.query, { name: STREAM_LEASE, holder, now: clock() });

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
  });
}

/**
 * An organisation whose events the receiver does not take waits, and keeps no other one from being sent.
 * @throws what kept a batch from being sent
 */
async function sendUnsent(deps: AuditStreamDeps, holder: string, { leaseMs }: StreamTimes): Promise<void> {
  const { database, clock } = deps;
  const hasLease = () => {
    const now = clock();
    return takeLease(database.query, { name: STREAM_LEASE, holder, now, until: now + leaseMs });
  };
  const refused = new Map<string, RefusedLines>();
  let inARow = 0;
  let hasSent = false;
  for (let after = ""; ; ) {
    const unsent = await findUnsent(database.query, after, ORGANISATIONS);
    for (const position of unsent) {
      if (refused.has(position.orgId)) continue;
      if (!(await hasLease())) return;
      const refusal = await sendBatch(deps, position).catch(asRefusal);
      if (refusal) refused.set(position.orgId, refusal);
      else hasSent = true;
      inARow = refusal ? inARow + 1 : 0;
      if (refusal && inARow >= MAX_REFUSED) throw refusal;
    }
    const last = unsent.at(-1);
    if (last && unsent.length === ORGANISATIONS) after = last.orgId;
    else if (hasSent) {
      // Again from the first, until nothing is left of any.
      after = "";
      hasSent = false;
    } else break;
  }
  const [first] = refused.values();
  if (first) throw first;
}

function asRefusal(error: unknown): RefusedLines {
  if (error instanceof RefusedLines) return error;
  throw error;
}

async function sendBatch(
  { database: { query }, send }: AuditStreamDeps,
  position: StreamPosition,
): Promise<undefined> {
  const { orgId, streamedSeq, seq } = position;
  const events = await readChained(query, orgId, { after: streamedSeq, limit: BATCH });
  const lines = beginningOf(events.map(streamLine));
  if (lines.length > 0) await send(orgId, lines);
  // None are left of those when their time to be kept is over.
  await movePosition(query, position, events[lines.length - 1]?.seq ?? seq);
}

/** As many as may go together. */
function beginningOf(lines: readonly string[]): readonly string[] {
  let letters = 0;
  const end = lines.findIndex((line) => {
    letters += line.length;
    return letters > BATCH_LETTERS;
  });
  return end < 0 ? lines : lines.slice(0, Math.max(1, end));
}

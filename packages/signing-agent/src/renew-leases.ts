/** The queue polls of an agent that holds something: they keep its leases, and bring what users answered. */
import { backoff, pause } from "./backoff.ts";
import type { RequestParts } from "./handle-request.ts";
import type { HeldRequests } from "./held-requests.ts";
import { reasonOf } from "./log.ts";
import { CallFailed } from "./service/json-call.ts";
import { ServiceTrouble } from "./service/signing-service.ts";

const RENEWAL_MS = 1_000;
/** How soon after a challenge was asked the first poll waits for its answer. */
const LOOK_MS = 200;
/** Longest that one queue poll waits for a user's answer: leases of 45 s are renewed in between. */
const QUEUE_WAIT_SECONDS = 10;
/** As many as the service lets one poll renew. */
const MOST_RENEWED = 50;

export interface RenewalParts {
  readonly held: HeldRequests;
  readonly reached: () => void;
  /** Aborts when the agent is to stop: nothing more is waited for. */
  readonly stopped: AbortSignal;
  /** Aborts when nothing is held any more, or nobody waits for it. */
  readonly ended: AbortSignal;
}

/** Until `ended` aborts. */
export async function renewLeases(
  parts: RequestParts,
  { held, reached, stopped, ended }: RenewalParts,
): Promise<void> {
  const failures = backoff();
  const noteSkew = skewNotes(parts);
  while (!ended.aborted) {
    const renew = held.toRenew();
    if (renew.length === 0) {
      await pause(LOOK_MS, ended);
      continue;
    }
    const began = performance.now();
    try {
      for (const [index, ids] of inParts(renew).entries()) {
        const isLast = (index + 1) * MOST_RENEWED >= renew.length;
        const waits = isLast && held.counts.waiting > 0 && !stopped.aborted;
        const how = waits ? { wait: QUEUE_WAIT_SECONDS, signal: stopped } : { wait: 0, signal: ended };
        const answer = await parts.service.queue({ ...how, renew: ids, known: held.known() });
        reached();
        failures.reset();
        held.deliver(answer);
        noteSkew(answer.serverTime);
      }
    } catch (error) {
      // A poll that waited is cut short when the agent stops: the next one does not wait.
      if (wasCutShort(error, stopped)) continue;
      const trouble = error instanceof ServiceTrouble ? error : undefined;
      parts.metrics.serviceError(trouble?.kind ?? "no_answer");
      parts.log("warn", "leases were not renewed", { reason: reasonOf(error) });
      await pause(failures.next(trouble?.retryAfterSeconds), ended);
    }
    await pause(Math.max(0, RENEWAL_MS - (performance.now() - began)), ended);
  }
}

const inParts = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / MOST_RENEWED) }, (_, part) =>
    ids.slice(part * MOST_RENEWED, (part + 1) * MOST_RENEWED),
  );

const wasCutShort = (error: unknown, stopped: AbortSignal): boolean =>
  stopped.aborted &&
  error instanceof CallFailed &&
  error.cause instanceof Error &&
  error.cause.cause === stopped.reason;

/** Beyond a minute nothing is signed; the operator should hear of it before. */
const SKEW_TO_TELL_SECONDS = 10;
const TELL_AGAIN_MS = 60_000;

/** Measures every answer's time against this machine's, and tells the operator of a difference once a minute. */
export function skewNotes({ metrics, log, clock }: Pick<RequestParts, "metrics" | "log" | "clock">) {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (serverTime: string | number): void => {
    const seconds = (new Date(serverTime).getTime() - clock()) / 1000;
    if (!Number.isFinite(seconds)) return;
    metrics.clockSkew(seconds);
    if (Math.abs(seconds) <= SKEW_TO_TELL_SECONDS || performance.now() - toldAt < TELL_AGAIN_MS) return;
    toldAt = performance.now();
    log("warn", "the service's clock and this machine's differ", { seconds: Math.round(seconds) });
  };
}

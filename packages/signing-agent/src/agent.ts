/** The agent at work: claims as much as it may hold, renews its leases, and stops in good order. */
import { type Backoff, backoff, pause } from "./backoff.ts";
import { handleRequest, type Outcome, type RequestParts } from "./handle-request.ts";
import { type HeldRequests, heldRequests } from "./held-requests.ts";
import { reasonOf } from "./log.ts";
import { renewLeases } from "./renew-leases.ts";
import type { ClaimedRequest } from "./service/messages.ts";
import { ServiceTrouble } from "./service/signing-service.ts";

export interface RunningAgent {
  /** Claims nothing more, gives what is held `graceMs` to finish, and hands the rest back for other agents. */
  stop(graceMs?: number): Promise<void>;
  /** Whether the service answered in the last minute. */
  isHealthy(): boolean;
}

/** Seconds that a claim waits at the service for something to claim. */
const CLAIM_WAIT_SECONDS = 20;
/** Claims that wait at once: enough that the next request finds one while the last one's answer is on its way. */
const MOST_CLAIMING = 8;
const NO_KEY_PAUSE_MS = 10_000;
const UNAUTHORIZED_PAUSE_SECONDS = 60;
/** Requests that may wait for users, for each that may be signed at once: more than come in two minutes at full speed is odd. */
const MOST_WAITING_PER_PLACE = 64;
const HEALTHY_MS = 60_000;
const GRACE_MS = 15_000;
const HAND_BACK_MS = 3_000;
/** For answers that had begun when the agent was told to stop, and for the last poll. */
const LAST_ANSWERS_MS = 500;

export function startAgent(parts: RequestParts): RunningAgent {
  const stopping = new AbortController();
  const { metrics, clock } = parts;
  let reachedAt = Number.NEGATIVE_INFINITY;
  const reached = () => {
    reachedAt = clock();
    metrics.reachedService(reachedAt);
  };
  const held: HeldRequests = heldRequests(undefined, () => {
    metrics.inFlight(held.counts.working);
    metrics.waitingForUsers(held.counts.waiting);
    claims.fill();
  });
  const work = async (request: ClaimedRequest) => {
    const began = performance.now();
    const one = held.hold(request.requestId);
    const outcome = await handleRequest(request, one, parts);
    metrics.finished(outcome, (performance.now() - began) / 1000);
    held.letGo(one);
    claims.note(outcome);
  };
  const claims = claimer(parts, { held, work, reached, stopping: stopping.signal });
  const ended = new AbortController();
  const renewals = renewLeases(parts, { held, reached, stopped: stopping.signal, ended: ended.signal });
  claims.fill();
  return {
    isHealthy: () => clock() - reachedAt < HEALTHY_MS,
    stop: async (graceMs = GRACE_MS) => {
      stopping.abort();
      // What the service gave just now is held too, to be finished or handed back.
      await atMost(LAST_ANSWERS_MS, claims.ended());
      await held.empty(AbortSignal.timeout(graceMs));
      held.interrupt();
      await held.empty(AbortSignal.timeout(HAND_BACK_MS));
      ended.abort();
      await atMost(LAST_ANSWERS_MS, renewals);
    },
  };
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, pause(milliseconds, done.signal)]);
  done.abort();
}

interface ClaimerParts {
  readonly held: HeldRequests;
  readonly work: (request: ClaimedRequest) => Promise<void>;
  readonly reached: () => void;
  readonly stopping: AbortSignal;
}

/** Keeps a few claims waiting at the service, never more than there are places left. */
function claimer(parts: RequestParts, { held, work, reached, stopping }: ClaimerParts) {
  const kids = parts.keys.map(({ kid }) => kid);
  const failures = backoff();
  const troubles = backoff();
  const claiming = new Set<Promise<void>>();
  let isPaused = false;

  async function claimOne(): Promise<void> {
    const asked = performance.now();
    const answer = await parts.service.claim({ kids, wait: CLAIM_WAIT_SECONDS, signal: stopping });
    reached();
    failures.reset();
    if (answer.outcome === "claimed") void work(answer.request);
    else if (answer.outcome === "no_usable_key") {
      if (isPaused) return;
      parts.log("warn", "none of this agent's keys is active yet", { kids });
      await rest(NO_KEY_PAUSE_MS);
    }
    // A service that does not let the call wait must not be asked in a circle.
    else if (performance.now() - asked < 200) await rest(failures.next());
  }

  async function rest(milliseconds: number): Promise<void> {
    isPaused = true;
    await pause(milliseconds, stopping);
    isPaused = false;
  }

  async function recover(error: unknown): Promise<void> {
    if (stopping.aborted) return;
    parts.metrics.serviceError(error instanceof ServiceTrouble ? error.kind : "no_answer");
    // Several claims fail together: one of them says so and waits for all.
    if (!isPaused) await rest(tellTrouble(parts, error, failures));
  }

  /** What cannot be signed here now is left to other agents for a while: claimed, it would only go back and forth. */
  function note(outcome: Outcome): void {
    if (outcome === "signed") troubles.reset();
    if (outcome === "unable" && !isPaused) void rest(troubles.next()).then(fill);
  }

  function room(): number {
    const { concurrency } = parts.policy().limits;
    const { working, waiting } = held.counts;
    return waiting >= concurrency * MOST_WAITING_PER_PLACE ? 0 : concurrency - working - claiming.size;
  }

  function fill(): void {
    while (!stopping.aborted && !isPaused && claiming.size < MOST_CLAIMING && room() > 0) {
      const one = claimOne()
        .catch(recover)
        .finally(() => {
          claiming.delete(one);
          fill();
        });
      claiming.add(one);
    }
  }
  return { fill, note, ended: () => Promise.all(claiming) };
}

/** @returns milliseconds until the next try */
function tellTrouble({ log }: RequestParts, error: unknown, failures: Backoff): number {
  const trouble = error instanceof ServiceTrouble ? error : undefined;
  const isUnauthorized = trouble?.kind === "unauthorized";
  const milliseconds = failures.next(
    isUnauthorized ? UNAUTHORIZED_PAUSE_SECONDS : trouble?.retryAfterSeconds,
  );
  log(isUnauthorized ? "error" : "warn", "the service cannot be used", {
    reason: reasonOf(error),
    retryInSeconds: Math.round(milliseconds / 100) / 10,
  });
  return milliseconds;
}

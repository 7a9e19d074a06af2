/** The agent at work: claims as much as it may hold, renews its leases, and stops in good order. */
import { backoff, pause } from "./backoff.ts";
import { handleRequest, type RequestParts } from "./handle-request.ts";
import { type HeldRequests, heldRequests } from "./held-requests.ts";
import { reasonOf } from "./log.ts";
import { CallFailed } from "./service/json-call.ts";
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
const MOST_CLAIMING = 4;
const NO_KEY_PAUSE_MS = 10_000;
const UNAUTHORIZED_PAUSE_SECONDS = 60;
const RENEWAL_MS = 1_000;
/** How soon after a challenge was asked the first poll waits for its answer. */
const LOOK_MS = 200;
/** Longest that one queue poll waits for a user's answer: leases of 45 s are renewed in between. */
const QUEUE_WAIT_SECONDS = 10;
const HEALTHY_MS = 60_000;
const GRACE_MS = 15_000;
const HAND_BACK_MS = 4_000;

export function startAgent(parts: RequestParts): RunningAgent {
  const stopping = new AbortController();
  const { metrics, clock } = parts;
  let reachedAt = Number.NEGATIVE_INFINITY;
  const reached = () => {
    reachedAt = clock();
    metrics.reachedService(reachedAt);
  };
  const held: HeldRequests = heldRequests(clock, () => {
    metrics.inFlight(held.counts.working);
    metrics.waitingForUsers(held.counts.waiting);
    claims.fill();
  });
  const work = async (request: ClaimedRequest) => {
    const began = performance.now();
    const outcome = await handleRequest(request, held.hold(request.requestId), parts);
    metrics.finished(outcome, (performance.now() - began) / 1000);
    held.letGo(request.requestId);
  };
  const claims = claimer(parts, { held, work, reached, stopping: stopping.signal });
  const ended = new AbortController();
  const renewals = renewLeases(parts, { held, reached, stopped: stopping.signal, ended: ended.signal });
  claims.fill();
  return {
    isHealthy: () => clock() - reachedAt < HEALTHY_MS,
    stop: async (graceMs = GRACE_MS) => {
      stopping.abort();
      await held.empty(AbortSignal.timeout(graceMs));
      held.interrupt();
      await held.empty(AbortSignal.timeout(HAND_BACK_MS));
      ended.abort();
      await renewals;
    },
  };
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
  let claiming = 0;
  let isPaused = false;

  async function claimOne(): Promise<void> {
    const asked = performance.now();
    const answer = await parts.service.claim({ kids, wait: CLAIM_WAIT_SECONDS, signal: stopping });
    reached();
    failures.reset();
    if (answer.outcome === "claimed") void work(answer.request);
    else if (answer.outcome === "no_usable_key") {
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
    const trouble = error instanceof ServiceTrouble ? error : undefined;
    parts.metrics.serviceError(trouble?.kind ?? "no_answer");
    const least = trouble?.kind === "unauthorized" ? UNAUTHORIZED_PAUSE_SECONDS : trouble?.retryAfterSeconds;
    // Several claims fail together: one of them says so and waits for all.
    if (isPaused) return;
    const milliseconds = failures.next(least);
    parts.log(trouble?.kind === "unauthorized" ? "error" : "warn", "the service cannot be used", {
      reason: reasonOf(error),
      retryInSeconds: Math.round(milliseconds / 100) / 10,
    });
    await rest(milliseconds);
  }

  function fill(): void {
    const room = () => parts.policy().limits.concurrency - held.counts.working - claiming;
    while (!stopping.aborted && !isPaused && claiming < MOST_CLAIMING && room() > 0) {
      claiming += 1;
      void claimOne()
        .catch(recover)
        .finally(() => {
          claiming -= 1;
          fill();
        });
    }
  }
  return { fill };
}

interface RenewalParts {
  readonly held: HeldRequests;
  readonly reached: () => void;
  /** Aborts when the agent is to stop: nothing more is waited for. */
  readonly stopped: AbortSignal;
  /** Aborts when nothing is held any more. */
  readonly ended: AbortSignal;
}

async function renewLeases(
  parts: RequestParts,
  { held, reached, stopped, ended }: RenewalParts,
): Promise<void> {
  const failures = backoff();
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
        const answer = await parts.service.queue(
          waits ? { wait: QUEUE_WAIT_SECONDS, renew: ids, signal: stopped } : { wait: 0, renew: ids },
        );
        reached();
        failures.reset();
        held.deliver(answer);
        noteSkew(parts, answer.serverTime);
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

/** As many as the service lets one poll renew. */
const MOST_RENEWED = 50;

const inParts = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / MOST_RENEWED) }, (_, part) =>
    ids.slice(part * MOST_RENEWED, (part + 1) * MOST_RENEWED),
  );

const wasCutShort = (error: unknown, stopped: AbortSignal): boolean =>
  stopped.aborted && error instanceof CallFailed && (error.cause as Error | undefined)?.name === "AbortError";

/** Beyond a minute nothing is signed; the operator should hear of it before. */
const SKEW_TO_TELL_SECONDS = 10;

export function noteSkew(
  { metrics, log, clock }: Pick<RequestParts, "metrics" | "log" | "clock">,
  serverTime: string | number,
): void {
  const seconds = (new Date(serverTime).getTime() - clock()) / 1000;
  if (!Number.isFinite(seconds)) return;
  metrics.clockSkew(seconds);
  if (Math.abs(seconds) > SKEW_TO_TELL_SECONDS)
    log("warn", "the service's clock and this machine's differ", { seconds: Math.round(seconds) });
}

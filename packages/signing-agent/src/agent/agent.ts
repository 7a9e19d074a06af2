/** The running agent: claims requests as long as there is room for them, and stops without losing one. */
import { type Backoff, backoff, pause } from "@signet/cli-runtime/backoff";
import { describeError } from "@signet/cli-runtime/redact";
import { type ClaimedRequest, ServiceError } from "../service/signing-service.ts";
import {
  type AgentDeps,
  countServiceError,
  handleRequest,
  type Outcome,
  SERVICE_BACKOFF,
} from "./handle-request.ts";
import { type LeasedRequests, leasedRequests } from "./leased-requests.ts";
import { renewLeases } from "./renew-leases.ts";

export type RunningAgent = ReturnType<typeof startAgent>;

const CLAIM_WAIT_SECONDS = 20;
/** Enough that the next request finds a waiting claim while the last one's answer is still on its way. */
const MAX_WAITING_CLAIMS = 8;
const NO_KEY_PAUSE_MS = 10_000;
const UNAUTHORIZED_PAUSE_SECONDS = 60;
/** Requests that may wait for users, per request that may be signed at the same time. */
const MAX_WAITING_PER_PLACE = 64;
const HEALTHY_MS = 60_000;
const GRACE_MS = 15_000;
const HAND_BACK_MS = 3_000;
/** For answers that had begun when the agent was told to stop, and for the last poll. */
const LAST_ANSWERS_MS = 500;

export function startAgent(deps: AgentDeps) {
  const { metrics, clock } = deps;
  const stopping = new AbortController();
  const ended = new AbortController();
  let lastAnswerAt = Number.NEGATIVE_INFINITY;
  const onServiceAnswer = () => {
    lastAnswerAt = clock();
    metrics.lastAnswer.set(lastAnswerAt / 1000);
  };
  const leased: LeasedRequests = leasedRequests(() => {
    metrics.inFlight.set(leased.counts.working);
    metrics.waitingForUsers.set(leased.counts.waiting);
    claims.fill();
  });
  const work = async (claimed: ClaimedRequest) => {
    const startedAt = performance.now();
    const request = leased.add(claimed.requestId);
    const outcome = await handleRequest(claimed, request, deps);
    metrics.duration.observe({ outcome }, (performance.now() - startedAt) / 1000);
    leased.remove(request);
    claims.onOutcome(outcome);
  };
  const claims = claimLoop(deps, { leased, work, onServiceAnswer, stopping: stopping.signal });
  const renewals = renewLeases(deps, {
    leased,
    onServiceAnswer,
    stopping: stopping.signal,
    ended: ended.signal,
  });
  claims.fill();
  return {
    /** Whether the service answered in the last minute. */
    isHealthy: (): boolean => clock() - lastAnswerAt < HEALTHY_MS,
    /** Claims nothing more, gives open requests `graceMs` to finish, and hands the others back to the pool. */
    stop: async (graceMs = GRACE_MS): Promise<void> => {
      stopping.abort();
      // A request that the service is handing over right now must be finished or handed back too.
      await waitAtMost(LAST_ANSWERS_MS, claims.settled());
      await leased.drained(AbortSignal.timeout(graceMs));
      leased.interruptAll();
      await leased.drained(AbortSignal.timeout(HAND_BACK_MS));
      ended.abort();
      await waitAtMost(LAST_ANSWERS_MS, renewals);
    },
  };
}

async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, pause(milliseconds, done.signal)]);
  done.abort();
}

interface ClaimLoop {
  readonly leased: LeasedRequests;
  readonly work: (claimed: ClaimedRequest) => Promise<void>;
  readonly onServiceAnswer: () => void;
  readonly stopping: AbortSignal;
}

/** Keeps a few claims waiting at the service, never more than there is room for. */
function claimLoop(deps: AgentDeps, { leased, work, onServiceAnswer, stopping }: ClaimLoop) {
  const kids = deps.keys.map(({ kid }) => kid);
  const failures = backoff(SERVICE_BACKOFF);
  const unable = backoff(SERVICE_BACKOFF);
  const claims = new Set<Promise<void>>();
  let isPaused = false;

  async function claimOne(): Promise<void> {
    const askedAt = performance.now();
    const answer = await deps.service.claim(kids, { wait: CLAIM_WAIT_SECONDS, signal: stopping });
    onServiceAnswer();
    failures.reset();
    if (answer.outcome === "claimed") void work(answer.request);
    else if (answer.outcome === "no_usable_key") {
      if (isPaused) return;
      deps.log("warn", "none of this agent's keys is active yet", { kids });
      await pauseClaims(NO_KEY_PAUSE_MS);
    }
    // A service that does not keep claims waiting must not be asked in a tight loop.
    else if (performance.now() - askedAt < 200) await pauseClaims(failures.next());
  }

  async function pauseClaims(milliseconds: number): Promise<void> {
    isPaused = true;
    await pause(milliseconds, stopping);
    isPaused = false;
  }

  async function onFailure(error: unknown): Promise<void> {
    if (stopping.aborted) return;
    countServiceError(error, deps);
    // Claims fail together: the first one logs it and pauses them all.
    if (!isPaused) await pauseClaims(logFailure(deps, error, failures));
  }

  /** Leaves requests to other agents while this one cannot sign: claimed here, they would only go back and forth. */
  function onOutcome(outcome: Outcome): void {
    if (outcome === "signed") unable.reset();
    if (outcome === "unable" && !isPaused) void pauseClaims(unable.next()).then(fill);
  }

  function room(): number {
    const { concurrency } = deps.policy().limits;
    const { working, waiting } = leased.counts;
    return waiting >= concurrency * MAX_WAITING_PER_PLACE ? 0 : concurrency - working - claims.size;
  }

  function fill(): void {
    while (!stopping.aborted && !isPaused && claims.size < MAX_WAITING_CLAIMS && room() > 0) {
      const claim = claimOne()
        .catch(onFailure)
        .finally(() => {
          claims.delete(claim);
          fill();
        });
      claims.add(claim);
    }
  }
  return { fill, onOutcome, settled: () => Promise.all(claims) };
}

/** @returns milliseconds until the next attempt */
function logFailure({ log }: AgentDeps, error: unknown, failures: Backoff): number {
  const { kind, retryAfter } = error instanceof ServiceError ? error : {};
  const isUnauthorized = kind === "unauthorized";
  const milliseconds = failures.next(isUnauthorized ? UNAUTHORIZED_PAUSE_SECONDS : retryAfter);
  log(isUnauthorized ? "error" : "warn", "cannot claim from the service", {
    reason: describeError(error),
    retryInSeconds: Math.round(milliseconds / 100) / 10,
  });
  return milliseconds;
}

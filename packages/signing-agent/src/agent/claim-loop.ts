/**
 * Claims as much as there is room for. A service that hands out several requests at once keeps one claim waiting while the agent
 * has nothing to sign; otherwise the next requests come with the answers to signatures. Of an older one a few claims wait.
 */
import { type Backoff, backoff, pause } from "@signet/cli-runtime/backoff";
import { describeError } from "@signet/cli-runtime/redact";
import { signBatches } from "../service/sign-batches.ts";
import { type ClaimAnswer, type ClaimedRequest, ServiceError } from "../service/signing-service.ts";
import type { AgentDeps, Outcome } from "./agent-deps.ts";
import { countServiceError, SERVICE_BACKOFF } from "./handle-request.ts";
import type { LeasedRequests } from "./leased-requests.ts";
import { openPlaces } from "./open-places.ts";

const CLAIM_WAIT_SECONDS = 20;
const NO_KEY_PAUSE_MS = 10_000;
const UNAUTHORIZED_PAUSE_SECONDS = 60;
const SHORTEST_WAIT_MS = 200;

interface ClaimLoop {
  readonly leased: LeasedRequests;
  readonly startWork: (requests: readonly ClaimedRequest[]) => void;
  readonly onServiceAnswer: () => void;
  readonly stopping: AbortSignal;
}

export function claimLoop(deps: AgentDeps, { leased, startWork, onServiceAnswer, stopping }: ClaimLoop) {
  const kids = deps.keys.map(({ kid }) => kid);
  const claims = new Set<Promise<void>>();
  const pauses = claimPauses(deps, stopping);
  const places = openPlaces({ leased, concurrency: () => deps.policy().limits.concurrency });
  const take = (requests: readonly ClaimedRequest[]) => {
    places.onClaimed(requests.length);
    startWork(requests);
  };
  const batches = signBatches({
    service: deps.service,
    onClaimed: take,
    nextClaim: (freed) => {
      const next = stopping.aborted || pauses.isPaused() ? undefined : places.promiseNext(freed);
      return next && { kids, ...next };
    },
  });

  async function claimMore(max: number): Promise<void> {
    const askedAt = performance.now();
    const wait = { wait: CLAIM_WAIT_SECONDS, max, signal: stopping };
    const answer = await deps.service.claim(kids, wait).finally(places.promise(max));
    onServiceAnswer();
    pauses.reset();
    if (answer.outcome !== "claimed") return pauses.onNothing(answer, performance.now() - askedAt);
    places.setBatches(answer.inBatches);
    batches.setSupported(answer.inBatches);
    take(answer.requests.slice(0, max));
  }

  function fill(): void {
    while (!stopping.aborted && !pauses.isPaused()) {
      const max = places.wanted(claims.size, fill);
      if (max <= 0) return;
      const claim = claimMore(max)
        .catch(pauses.onFailure)
        .finally(() => {
          claims.delete(claim);
          fill();
        });
      claims.add(claim);
    }
  }

  return {
    fill,
    /** Leaves requests to other agents while this one cannot sign: claimed here, they would only go back and forth. */
    onOutcome: (outcome: Outcome): void => {
      if (outcome === "signed" || outcome === "approved") pauses.onAble();
      if (outcome === "unable" && !pauses.isPaused()) void pauses.onUnable().then(fill);
    },
    batches,
    settled: () => Promise.all(claims),
  };
}

/** When nothing is claimed for a while: the service is away or has nothing, or the agent cannot sign. */
function claimPauses(deps: AgentDeps, stopping: AbortSignal) {
  const kids = deps.keys.map(({ kid }) => kid);
  const failures = backoff(SERVICE_BACKOFF);
  const unable = backoff(SERVICE_BACKOFF);
  let isPaused = false;

  async function pauseFor(milliseconds: number): Promise<void> {
    isPaused = true;
    await pause(milliseconds, stopping);
    isPaused = false;
  }

  return {
    isPaused: (): boolean => isPaused,
    reset: failures.reset,
    onNothing: async ({ outcome }: ClaimAnswer, tookMs: number): Promise<void> => {
      if (outcome === "no_usable_key" && !isPaused) {
        deps.log("warn", "none of this agent's keys is active yet", { kids });
        await pauseFor(NO_KEY_PAUSE_MS);
      }
      // A service that does not keep claims waiting must not be asked in a tight loop.
      if (outcome === "nothing" && tookMs < SHORTEST_WAIT_MS) await pauseFor(failures.next());
    },
    onFailure: async (error: unknown): Promise<void> => {
      if (stopping.aborted) return;
      countServiceError(error, deps);
      // Claims fail together: the first one logs it and pauses them all.
      if (!isPaused) await pauseFor(logFailure(deps, error, failures));
    },
    onAble: unable.reset,
    onUnable: () => pauseFor(unable.next()),
  };
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

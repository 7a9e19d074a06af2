/** The running agent: claims requests as long as there is room for them, and stops without losing one. */
import { pause } from "@signet/cli-runtime/backoff";
import type { ClaimedRequest } from "../service/signing-service.ts";
import type { AgentDeps } from "./agent-deps.ts";
import { claimLoop } from "./claim-loop.ts";
import { gathering, type Member } from "./gathering.ts";
import { handleRequest } from "./handle-request.ts";
import { type LeasedRequest, type LeasedRequests, leasedRequests } from "./leased-requests.ts";
import { renewLeases } from "./renew-leases.ts";

export type RunningAgent = ReturnType<typeof startAgent>;

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
  const work = async (claimed: ClaimedRequest, request: LeasedRequest, member: Member) => {
    const startedAt = performance.now();
    const outcome = await handleRequest({ claimed, request, member, batches: claims.batches }, deps);
    metrics.duration.observe({ outcome }, (performance.now() - startedAt) / 1000);
    leased.remove(request);
    claims.onOutcome(outcome);
  };
  const startWork = (requests: readonly ClaimedRequest[]) => {
    const members = gathering(requests.length);
    const started = requests.map((claimed) => ({ claimed, request: leased.add(claimed.requestId) }));
    for (const [index, { claimed, request }] of started.entries()) {
      const member = members[index];
      if (member) void work(claimed, request, member);
    }
  };
  const claims = claimLoop(deps, { leased, startWork, onServiceAnswer, stopping: stopping.signal });
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

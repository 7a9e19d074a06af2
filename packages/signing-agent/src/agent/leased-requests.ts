/** The requests that this agent has claimed and not finished: their leases, and users' answers to their challenges. */
import type { QueueAnswer } from "../service/signing-service.ts";

/** A request ended before it was signed: its lease was lost, or the agent is stopping. */
export class Interrupted extends Error {
  override name = "Interrupted";
  readonly by: "lost" | "stopping";

  constructor(by: "lost" | "stopping") {
    super(by === "lost" ? "the lease was lost" : "the agent is stopping");
    this.by = by;
  }
}

/** A request that takes longer than this has its lease of 30 s renewed. */
const RENEW_AFTER_MS = 5_000;
/** The service's limit for one poll. */
const MAX_KNOWN_CHALLENGES = 50;
/** A request has at most three challenges; a service that sends more answers is not believed. */
const MAX_ANSWERS = 8;

export type LeasedRequest = ReturnType<typeof leasedRequest>;
export type LeasedRequests = ReturnType<typeof leasedRequests>;

/**
 * @param onChange called when a count changes
 * @param clock monotonic milliseconds: leases do not follow a clock that is set
 */
export function leasedRequests(onChange: () => void = () => {}, clock = () => performance.now()) {
  const leased = new Map<string, LeasedRequest>();
  const whenEmpty = new Set<() => void>();
  const known = new Set<string>();

  function rememberChallenge(challengeId: string): void {
    known.delete(challengeId);
    known.add(challengeId);
    const [oldest] = known;
    if (known.size > MAX_KNOWN_CHALLENGES && oldest !== undefined) known.delete(oldest);
  }

  return {
    /** A request that is claimed again while it is here has lost its first lease. */
    add: (requestId: string): LeasedRequest => {
      leased.get(requestId)?.interrupt("lost");
      const request = leasedRequest(requestId, clock(), onChange);
      leased.set(requestId, request);
      onChange();
      return request;
    },
    remove: (request: LeasedRequest): void => {
      if (leased.get(request.requestId) === request) leased.delete(request.requestId);
      onChange();
      if (leased.size === 0) for (const resolve of whenEmpty) resolve();
    },
    dueForRenewal: (): string[] => {
      const due = clock() - RENEW_AFTER_MS;
      return [...leased.values()].flatMap(({ requestId, since, isWaiting }) =>
        isWaiting() || since <= due ? [requestId] : [],
      );
    },
    /** The last challenges answered, of any request: the service need not send these answers again. */
    knownChallenges: (): string[] => [...known],
    /** Hands out users' answers and interrupts the requests whose lease is lost. */
    applyPoll: ({ responses, lost }: Pick<QueueAnswer, "responses" | "lost">): void => {
      for (const { requestId, challengeId, answer } of responses) {
        rememberChallenge(challengeId);
        leased.get(requestId)?.addAnswer(challengeId, answer);
      }
      for (const requestId of lost) leased.get(requestId)?.interrupt("lost");
    },
    interruptAll: (): void => {
      for (const request of leased.values()) request.interrupt("stopping");
    },
    /** Requests being worked on, and requests waiting for a user. */
    get counts() {
      const waiting = [...leased.values()].filter(({ isWaiting }) => isWaiting()).length;
      return { working: leased.size - waiting, waiting };
    },
    /** Resolves when no request is left, or when the signal aborts. */
    drained: async (signal: AbortSignal): Promise<void> => {
      if (leased.size === 0 || signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      whenEmpty.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      whenEmpty.delete(resolve);
    },
  };
}

function leasedRequest(requestId: string, since: number, onChange: () => void) {
  const controller = new AbortController();
  const signal: AbortSignal = controller.signal;
  const answers = new Map<string, unknown>();
  const listeners = new Set<() => void>();
  let isWaiting = false;
  return {
    requestId,
    since,
    /** Its reason is an `Interrupted`. */
    signal,
    isWaiting: () => isWaiting,
    /** A request that waits for a user takes none of the places for requests being signed. */
    setWaiting: (waiting: boolean): void => {
      isWaiting = waiting;
      onChange();
    },
    interrupt: (by: Interrupted["by"]): void => controller.abort(new Interrupted(by)),
    addAnswer: (challengeId: string, answer: unknown): void => {
      if (answers.size < MAX_ANSWERS) answers.set(challengeId, answer);
      for (const listener of listeners) listener();
    },
    /** The user's answer to a challenge. Rejects when `until` or the request's own signal aborts. */
    waitForAnswer: async (challengeId: string, until: AbortSignal): Promise<unknown> => {
      const aborted = AbortSignal.any([signal, until]);
      while (!answers.has(challengeId)) {
        aborted.throwIfAborted();
        const { promise, resolve } = Promise.withResolvers<void>();
        listeners.add(resolve);
        aborted.addEventListener("abort", () => resolve(), { once: true });
        await promise;
        listeners.delete(resolve);
      }
      return answers.get(challengeId);
    },
  };
}

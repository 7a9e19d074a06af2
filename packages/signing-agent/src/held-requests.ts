/** The requests that this agent has claimed and not finished: their leases, and the answers that users give to them. */
import type { QueueAnswer } from "./service/messages.ts";

export interface HeldRequest {
  readonly requestId: string;
  /** Aborts when the lease is lost, and when the agent has to stop; `signal.reason` is an `Interrupted`. */
  readonly signal: AbortSignal;
  /** The user's answer to this challenge. Rejects when `until` or the request's own signal aborts. */
  response(challengeId: string, until: AbortSignal): Promise<unknown>;
  /** Whether it waits for a user; then it takes no place of those that are signed at once. */
  setWaiting(isWaiting: boolean): void;
}

export class Interrupted extends Error {
  readonly by: "lost" | "stopping";

  constructor(by: "lost" | "stopping") {
    super(by === "lost" ? "the lease was lost" : "the agent stops");
    this.name = "Interrupted";
    this.by = by;
  }
}

export interface HeldRequests {
  hold(requestId: string): HeldRequest;
  letGo(requestId: string): void;
  /** Those whose lease should be renewed now. */
  toRenew(): string[];
  /** Hands out the answers and ends what is lost. */
  deliver(answer: Pick<QueueAnswer, "responses" | "lost">): void;
  /** Of all that are left. */
  interrupt(): void;
  /** How many are worked on, and how many wait for a user. */
  readonly counts: { readonly working: number; readonly waiting: number };
  /** Resolves when nothing is held, or when the signal aborts. */
  empty(signal: AbortSignal): Promise<void>;
}

interface Held {
  readonly controller: AbortController;
  readonly since: number;
  isWaiting: boolean;
  readonly answers: Map<string, unknown>;
  readonly listeners: Set<() => void>;
}

/** A request that takes longer than this renews its lease of 30 s. */
const RENEW_AFTER_MS = 5_000;

export function heldRequests(clock: () => number, changed: () => void = () => {}): HeldRequests {
  const held = new Map<string, Held>();
  const emptied = new Set<() => void>();
  return {
    hold: (requestId) => {
      const one = newHeld(clock());
      held.set(requestId, one);
      changed();
      return heldRequest(requestId, one, changed);
    },
    letGo: (requestId) => {
      held.delete(requestId);
      changed();
      if (held.size === 0) for (const listener of emptied) listener();
    },
    toRenew: () => {
      const old = clock() - RENEW_AFTER_MS;
      return [...held].flatMap(([id, { since, isWaiting }]) => (isWaiting || since <= old ? [id] : []));
    },
    deliver: ({ responses, lost }) => {
      for (const { requestId, challengeId, answer } of responses) {
        const one = held.get(requestId);
        one?.answers.set(challengeId, answer);
        for (const listener of one?.listeners ?? []) listener();
      }
      for (const id of lost) held.get(id)?.controller.abort(new Interrupted("lost"));
    },
    interrupt: () => {
      for (const { controller } of held.values()) controller.abort(new Interrupted("stopping"));
    },
    get counts() {
      const waiting = [...held.values()].filter(({ isWaiting }) => isWaiting).length;
      return { working: held.size - waiting, waiting };
    },
    empty: (signal) =>
      new Promise((resolve) => {
        const done = () => {
          emptied.delete(done);
          resolve();
        };
        if (held.size === 0 || signal.aborted) return resolve();
        emptied.add(done);
        signal.addEventListener("abort", done, { once: true });
      }),
  };
}

const newHeld = (since: number): Held => ({
  controller: new AbortController(),
  since,
  isWaiting: false,
  answers: new Map(),
  listeners: new Set(),
});

function heldRequest(requestId: string, one: Held, changed: () => void): HeldRequest {
  const { signal } = one.controller;
  return {
    requestId,
    signal,
    setWaiting: (isWaiting) => {
      one.isWaiting = isWaiting;
      changed();
    },
    response: (challengeId, until) =>
      new Promise((resolve, reject) => {
        const either = AbortSignal.any([signal, until]);
        const look = () => {
          if (!one.answers.has(challengeId) && !either.aborted) return;
          one.listeners.delete(look);
          either.removeEventListener("abort", look);
          if (one.answers.has(challengeId)) resolve(one.answers.get(challengeId));
          else reject(either.reason);
        };
        one.listeners.add(look);
        either.addEventListener("abort", look);
        look();
      }),
  };
}

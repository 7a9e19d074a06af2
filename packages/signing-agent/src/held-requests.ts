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
  /** One of this id that is still held has lost its lease: the service gave the request anew. */
  hold(requestId: string): HeldRequest;
  letGo(request: HeldRequest): void;
  /** Those whose lease should be renewed now. */
  toRenew(): string[];
  /** The last challenges whose answers came, of whatever request: their answers are no news. */
  known(): string[];
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
  readonly request: HeldRequest;
  readonly controller: AbortController;
  readonly since: number;
  isWaiting: boolean;
  readonly answers: Map<string, unknown>;
  readonly listeners: Set<() => void>;
}

/** A request that takes longer than this renews its lease of 30 s. */
const RENEW_AFTER_MS = 5_000;
/** As many as the service lets a poll name. */
const MOST_KNOWN = 50;
/** A request has three challenges at most: what a service sends beyond is not kept. */
const MOST_ANSWERS = 8;

/** @param clock milliseconds that only ever go on, since leases do not follow a clock that is set */
export function heldRequests(
  clock: () => number = () => performance.now(),
  changed: () => void = () => {},
): HeldRequests {
  const held = new Map<string, Held>();
  const emptied = new Set<() => void>();
  const known = new Set<string>();
  const hear = (challengeId: string) => {
    known.delete(challengeId);
    known.add(challengeId);
    const [oldest] = known;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  };
  return {
    hold: (requestId) => {
      held.get(requestId)?.controller.abort(new Interrupted("lost"));
      const one = newHeld(requestId, clock(), changed);
      held.set(requestId, one);
      changed();
      return one.request;
    },
    letGo: (request) => {
      if (held.get(request.requestId)?.request === request) held.delete(request.requestId);
      changed();
      if (held.size === 0) for (const listener of emptied) listener();
    },
    toRenew: () => {
      const old = clock() - RENEW_AFTER_MS;
      return [...held].flatMap(([id, { since, isWaiting }]) => (isWaiting || since <= old ? [id] : []));
    },
    known: () => [...known],
    deliver: ({ responses, lost }) => {
      for (const { requestId, challengeId, answer } of responses) {
        hear(challengeId);
        const one = held.get(requestId);
        if (one && one.answers.size < MOST_ANSWERS) one.answers.set(challengeId, answer);
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

function newHeld(requestId: string, since: number, changed: () => void): Held {
  const state: Omit<Held, "request"> = {
    controller: new AbortController(),
    since,
    isWaiting: false,
    answers: new Map(),
    listeners: new Set(),
  };
  return Object.assign(state, { request: heldRequest(requestId, state, changed) });
}

function heldRequest(requestId: string, one: Omit<Held, "request">, changed: () => void): HeldRequest {
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

/** How much may be signed in a minute, for a client and for a user of it: what a stolen client or a lying service can take. */
import { Refusal } from "../refusal.ts";
import type { CheckedRequest } from "./check-tokens.ts";
import type { Limits } from "./policy.ts";

export interface RateLimits {
  /** Counts the request. @throws Refusal when it is one too many; then it is not counted */
  take(request: Pick<CheckedRequest, "clientId" | "sub">, limits: Limits): void;
}

const WINDOW_MS = 60_000;

interface Counter {
  /** Milliseconds, oldest first. */
  readonly times: number[];
}

/** A sliding minute: no more than the limit in any 60 seconds, not twice as many around the turn of a minute. */
export function rateLimits(clock: () => number): RateLimits {
  const counters = new Map<string, Counter>();
  let sweptAt = clock();

  function countOf(name: string, now: number): Counter {
    const counter = counters.get(name) ?? { times: [] };
    counters.set(name, counter);
    const firstInside = counter.times.findIndex((time) => time > now - WINDOW_MS);
    counter.times.splice(0, firstInside === -1 ? counter.times.length : firstInside);
    return counter;
  }

  function sweep(now: number): void {
    if (now - sweptAt < WINDOW_MS) return;
    sweptAt = now;
    for (const name of counters.keys()) if (countOf(name, now).times.length === 0) counters.delete(name);
  }

  return {
    take: ({ clientId, sub }, limits) => {
      const now = clock();
      sweep(now);
      const isUser = sub !== clientId;
      const wanted: Array<readonly [what: string, name: string, limit: number]> = [];
      if (isUser) wanted.push(["subject", `subject ${sub}`, limits.perSubjectPerMin]);
      if (limits.perClientPerMin !== undefined)
        wanted.push(["client", `client ${clientId}`, limits.perClientPerMin]);
      const found = wanted.map(([what, name, limit]) => ({ what, limit, counter: countOf(name, now) }));
      const full = found.find(({ counter, limit }) => counter.times.length >= limit);
      if (full)
        throw new Refusal("rate_limit", `more than ${full.limit} requests in a minute for this ${full.what}`);
      for (const { counter } of found) counter.times.push(now);
    },
  };
}

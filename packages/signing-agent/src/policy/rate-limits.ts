/** Requests per minute for each user and client: bounds what a stolen client or a lying service can get. */
import { Refusal } from "../agent/refusal.ts";
import type { CheckedRequest } from "./check-tokens.ts";
import type { Policy } from "./policy.ts";

const WINDOW_MS = 60_000;

export type RateLimits = ReturnType<typeof rateLimits>;

/** A sliding window: never more than the limit in any 60 seconds. */
export function rateLimits(clock: () => number) {
  /** Times of requests in milliseconds, oldest first. */
  const counters = new Map<string, number[]>();
  let sweptAt = clock();

  function recentTimes(name: string, now: number): number[] {
    const recent = (counters.get(name) ?? []).filter((time) => time > now - WINDOW_MS);
    counters.set(name, recent);
    return recent;
  }

  function sweep(now: number): void {
    if (now - sweptAt < WINDOW_MS) return;
    sweptAt = now;
    for (const name of counters.keys()) if (recentTimes(name, now).length === 0) counters.delete(name);
  }

  return {
    /** Counts the request. @throws Refusal for one too many, which is not counted */
    take: (request: Pick<CheckedRequest, "clientId" | "sub">, limits: Policy["limits"]): void => {
      const { clientId, sub } = request;
      const now = clock();
      sweep(now);
      const perSubject = sub === clientId ? undefined : limits.perSubjectPerMin;
      const subject = { type: "subject", id: sub, limit: perSubject };
      const client = { type: "client", id: clientId, limit: limits.perClientPerMin };
      const counted: number[][] = [];
      for (const { type, id, limit } of [subject, client]) {
        if (limit === undefined) continue;
        const times = recentTimes(`${type} ${id}`, now);
        if (times.length >= limit)
          throw new Refusal("rate_limit", `more than ${limit} requests in a minute for this ${type}`);
        counted.push(times);
      }
      for (const times of counted) times.push(now);
    },
  };
}

/**
 * Limits on guessing, counted in the database so that all nodes share one count. An attempt is counted before it is
 * looked at and given back when it succeeds: so many guesses sent at once are still so many guesses.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Database } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { countHit, giveBackHit } from "./rate-limits.store.ts";

export interface RateLimit {
  readonly name: string;
  readonly count: number;
  readonly windowSeconds: number;
}

export const defaultRateLimits = {
  "password-account": { name: "password-account", count: 10, windowSeconds: 15 * 60 },
  "password-address": { name: "password-address", count: 100, windowSeconds: 60 * 60 },
  // Three of a million codes are good at any moment: a day of guessing, with the password known, finds one in 1,400 times.
  "second-factor-account": { name: "second-factor-account", count: 10, windowSeconds: 60 * 60 },
  "second-factor-address": { name: "second-factor-address", count: 50, windowSeconds: 60 * 60 },
  "recovery-address": { name: "recovery-address", count: 60, windowSeconds: 60 },
  // Of one mailbox, whoever asks: nobody can fill it, and the newest link in it goes on working.
  "recovery-account": { name: "recovery-account", count: 5, windowSeconds: 60 * 60 },
  // Of one account: everything that is kept about somebody is read and sent.
  "data-export": { name: "data-export", count: 5, windowSeconds: 60 * 60 },
  // Mails that an administrator sends to themselves to see how they look.
  "mail-test": { name: "mail-test", count: 10, windowSeconds: 60 * 60 },
  // Of the legacy API, where one address may be an application's with all of its users behind it.
  "registration-address": { name: "registration-address", count: 60, windowSeconds: 60 },
  "registration-account": { name: "registration-account", count: 5, windowSeconds: 60 * 60 },
  "username-address": { name: "username-address", count: 60, windowSeconds: 60 },
  // Wrong codes of devices: of 20^8 a few hundred are good at any moment (RFC 8628 §5.1).
  "user-code": { name: "user-code", count: 5, windowSeconds: 15 * 60 },
  "device-address": { name: "device-address", count: 60, windowSeconds: 60 },
  // Wrong API keys of signing agents; the right ones are not counted.
  "agent-key-address": { name: "agent-key-address", count: 60, windowSeconds: 60 },
  // Wrong enrollment codes; a right one is let in all the same. Of 2^125 there is nothing to guess.
  "enrollment-code-address": { name: "enrollment-code-address", count: 10, windowSeconds: 60 },
  "enrollment-code-organisation": { name: "enrollment-code-organisation", count: 60, windowSeconds: 60 },
  // Requests of devices to enrol or renew, good and bad: each may cost the check of a signature.
  "enrollment-address": { name: "enrollment-address", count: 600, windowSeconds: 60 },
} satisfies Record<string, RateLimit>;

export type RateLimitName = keyof typeof defaultRateLimits;
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>;

export class RateLimited extends Error {
  readonly limit: RateLimit;
  readonly retryAfterSeconds: number;
  constructor(limit: RateLimit, retryAfterSeconds: number) {
    super(`the limit ${limit.name} is used up`);
    this.name = "RateLimited";
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Attempt {
  /** It was no wrong guess: it does not count. */
  giveBack(): Promise<void>;
}

export interface RateLimitDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Counts one attempt under each limit.
 * @param counted the limit and who it is counted for (kept as a hash only)
 * @throws RateLimited when one of them is used up; the attempt then still counts under the others
 */
export async function countAttempt(
  deps: RateLimitDeps,
  orgId: string,
  counted: ReadonlyArray<{ limit: RateLimit; subject: string }>,
): Promise<Attempt> {
  const now = deps.clock();
  const db = deps.database.query;
  const buckets = counted.map(({ limit, subject }) => ({
    limit,
    bucket: `${limit.name}:${sha256Base64url(subject)}`,
  }));
  for (const { limit, bucket } of buckets) {
    const { hits, windowStartedAt } = await countHit(db, {
      orgId,
      bucket,
      now,
      windowMs: limit.windowSeconds * 1000,
    });
    if (hits > limit.count) {
      throw new RateLimited(
        limit,
        Math.max(1, Math.ceil(windowStartedAt / 1000 + limit.windowSeconds - now / 1000)),
      );
    }
  }
  return {
    giveBack: async () => {
      for (const { bucket } of buckets) await giveBackHit(db, { orgId, bucket });
    },
  };
}

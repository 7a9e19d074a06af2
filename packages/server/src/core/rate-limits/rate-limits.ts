/**
 * Rate limits against guessing, counted in the database for all nodes. An attempt counts before the check and is given back
 * if it succeeds, so that concurrent guesses all count.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { CoreDeps } from "../core-deps.ts";
import { countHit, giveBackHit } from "./rate-limits.store.ts";

export interface RateLimit {
  readonly name: string;
  readonly count: number;
  readonly windowSeconds: number;
}

export const defaultRateLimits = {
  "password-account": { name: "password-account", count: 10, windowSeconds: 15 * 60 },
  "password-address": { name: "password-address", count: 100, windowSeconds: 60 * 60 },
  // Three of a million codes are valid at any time: a day of guessing with a known password succeeds once in 1,400 times.
  "second-factor-account": { name: "second-factor-account", count: 10, windowSeconds: 60 * 60 },
  "second-factor-address": { name: "second-factor-address", count: 50, windowSeconds: 60 * 60 },
  "recovery-address": { name: "recovery-address", count: 60, windowSeconds: 60 },
  // For each mailbox: it can't be flooded, and its newest link stays valid.
  "recovery-account": { name: "recovery-account", count: 5, windowSeconds: 60 * 60 },
  // For each account: an export reads all data of the user.
  "data-export": { name: "data-export", count: 5, windowSeconds: 60 * 60 },
  // Test emails that administrators send to themselves.
  "mail-test": { name: "mail-test", count: 10, windowSeconds: 60 * 60 },
  // The legacy API: an address may be an application's, with all of its users.
  "registration-address": { name: "registration-address", count: 60, windowSeconds: 60 },
  "registration-account": { name: "registration-account", count: 5, windowSeconds: 60 * 60 },
  "username-address": { name: "username-address", count: 60, windowSeconds: 60 },
  // Wrong user codes: of 20^8 a few hundred are valid at any time (RFC 8628 §5.1).
  "user-code": { name: "user-code", count: 5, windowSeconds: 15 * 60 },
  "device-address": { name: "device-address", count: 60, windowSeconds: 60 },
  // Wrong API keys of signing agents only.
  "agent-key-address": { name: "agent-key-address", count: 60, windowSeconds: 60 },
  // Wrong enrolment codes only; 125 bits can't be guessed.
  "enrollment-code-address": { name: "enrollment-code-address", count: 10, windowSeconds: 60 },
  "enrollment-code-organisation": { name: "enrollment-code-organisation", count: 60, windowSeconds: 60 },
  // Every enrolment and renewal: each may cost a signature check.
  "enrollment-address": { name: "enrollment-address", count: 600, windowSeconds: 60 },
} satisfies Record<string, RateLimit>;

export type RateLimitName = keyof typeof defaultRateLimits;
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>;

export class RateLimited extends Error {
  readonly limit: RateLimit;
  readonly retryAfterSeconds: number;
  constructor(limit: RateLimit, retryAfterSeconds: number) {
    super(`rate limit ${limit.name} exceeded`);
    this.name = "RateLimited";
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Attempt {
  /** Undoes the count after a success. */
  giveBack(): Promise<void>;
}

/**
 * @param counted each limit and its subject, which is stored as a hash
 * @throws RateLimited if one is exceeded; the attempt still counts under the limits before it
 */
export async function countAttempt(
  deps: CoreDeps,
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
    const windowMs = limit.windowSeconds * 1000;
    const { hits, windowStartedAt } = await countHit(db, { orgId, bucket, now, windowMs });
    if (hits > limit.count)
      throw new RateLimited(limit, Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1000)));
  }
  return {
    giveBack: async () => {
      for (const { bucket } of buckets) await giveBackHit(db, { orgId, bucket });
    },
  };
}

/** Response headers of an exceeded limit (RateLimit header fields for HTTP, Internet-Draft). */
export function rateLimitHeaders({ limit, retryAfterSeconds }: RateLimited): Record<string, string> {
  return {
    "ratelimit-policy": `"${limit.name}";q=${limit.count};w=${limit.windowSeconds}`,
    ratelimit: `"${limit.name}";r=0;t=${retryAfterSeconds}`,
  };
}

/**
 * The network that a client's address counts as: an IPv6 /64, because a subscriber has a whole one, or an IPv4 address,
 * also from its IPv4-mapped form (RFC 4291 §2.5.5.2) or with the port that some proxies add.
 */
export function networkPrefix(peer: string): string {
  const address = peer.replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1").replace(/^\[([^\]]+)\](?::\d+)?$/, "$1");
  if (address.startsWith("::ffff:")) return address.slice("::ffff:".length);
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const behind = tail === "" ? [] : tail.split(":");
    while (groups.length + behind.length < 8) groups.push("0");
    groups.push(...behind);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** The rate limits, counted in the database for all nodes. docs/security.md says whom each one can hurt. */
import { isIPv6 } from "node:net";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../db/open.ts";
import type { CoreDeps } from "../core-deps.ts";
import { type Counter, type CounterState, readCounters } from "./attempts.store.ts";
import { giveBackHit, takeHit } from "./rate-limits.store.ts";
import { rateLimitRefusals } from "./refusals.ts";

export interface RateLimit {
  readonly name: string;
  readonly count: number;
  readonly windowSeconds: number;
}

export const defaultRateLimits = {
  "password-account": { name: "password-account", count: 10, windowSeconds: 15 * 60 },
  "password-address": { name: "password-address", count: 100, windowSeconds: 60 * 60 },
  // Calls of an application's backend, which stands before all of its users: what its own sign-in form should refuse first.
  "password-application": { name: "password-application", count: 1_000, windowSeconds: 15 * 60 },
  // Three of a million codes are valid at any time: a day of guessing with a known password succeeds once in 1,400 times.
  "second-factor-account": { name: "second-factor-account", count: 10, windowSeconds: 60 * 60 },
  "second-factor-address": { name: "second-factor-address", count: 50, windowSeconds: 60 * 60 },
  "second-factor-application": { name: "second-factor-application", count: 500, windowSeconds: 60 * 60 },
  "recovery-address": { name: "recovery-address", count: 60, windowSeconds: 60 },
  // For each mailbox: it can't be flooded, and its newest link stays valid.
  "recovery-account": { name: "recovery-account", count: 5, windowSeconds: 60 * 60 },
  // Codes and links that only the browser that asked can use: what somebody else asks for is no use to the mailbox's owner, and must
  // not keep the owner from one. For a mailbox by each network, and by each browser that has signed in to its account before.
  "email-code-source": { name: "email-code-source", count: 5, windowSeconds: 60 * 60 },
  // For a mailbox by all others together: it can't be flooded from many networks.
  "email-code-mailbox": { name: "email-code-mailbox", count: 20, windowSeconds: 60 * 60 },
  // For each account: an export reads all data of the user.
  "data-export": { name: "data-export", count: 5, windowSeconds: 60 * 60 },
  // Test emails that administrators send to themselves.
  "mail-test": { name: "mail-test", count: 10, windowSeconds: 60 * 60 },
  // The legacy API: for each end user's network, or for each application that doesn't tell it.
  "registration-address": { name: "registration-address", count: 60, windowSeconds: 60 },
  "registration-account": { name: "registration-account", count: 5, windowSeconds: 60 * 60 },
  "username-address": { name: "username-address", count: 60, windowSeconds: 60 },
  // Calls of API v1, for each client.
  "api-client": { name: "api-client", count: 6_000, windowSeconds: 60 },
  // Wrong user codes: of 20^8 a few hundred are valid at any time (RFC 8628 §5.1).
  "user-code": { name: "user-code", count: 5, windowSeconds: 15 * 60 },
  "device-address": { name: "device-address", count: 60, windowSeconds: 60 },
  // Of public clients: each leaves a row for a minute.
  "par-address": { name: "par-address", count: 600, windowSeconds: 60 },
  // Errors of authorization requests that a pool's agents sign (JARM): anybody can have them made.
  "signed-error-address": { name: "signed-error-address", count: 60, windowSeconds: 60 },
  // Authentication requests (CIBA) of a client, whomever they name; what one user is asked by it, and by all clients together: nobody
  // is asked until they give in.
  "ciba-client": { name: "ciba-client", count: 300, windowSeconds: 60 },
  "ciba-client-user": { name: "ciba-client-user", count: 5, windowSeconds: 15 * 60 },
  "ciba-user": { name: "ciba-user", count: 20, windowSeconds: 15 * 60 },
  // Wrong API keys of signing agents only.
  "agent-key-address": { name: "agent-key-address", count: 60, windowSeconds: 60 },
  // Documents that are read at addresses which somebody has made up: where clients of any host are taken (client-id-metadata-policy).
  "client-document-address": { name: "client-document-address", count: 60, windowSeconds: 60 },
  // Wrong tokens for the registration of clients only.
  "registration-token-address": { name: "registration-token-address", count: 60, windowSeconds: 60 },
  // Wrong tokens of connections only.
  "connection-token-address": { name: "connection-token-address", count: 60, windowSeconds: 60 },
  // Browsers that are sent to an identity provider: each leaves a row for ten minutes.
  "connection-start-address": { name: "connection-start-address", count: 600, windowSeconds: 60 },
  // Wrong proofs of device-bound sessions only.
  "bound-session-address": { name: "bound-session-address", count: 60, windowSeconds: 60 },
  // Wrong enrolment codes only; 125 bits can't be guessed.
  "enrollment-code-address": { name: "enrollment-code-address", count: 10, windowSeconds: 60 },
  "enrollment-code-organisation": { name: "enrollment-code-organisation", count: 60, windowSeconds: 60 },
  // Every enrolment and renewal: each may cost a signature check.
  "enrollment-address": { name: "enrollment-address", count: 600, windowSeconds: 60 },
} satisfies Record<string, RateLimit>;

export type RateLimitName = keyof typeof defaultRateLimits;
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>;

export class RateLimited extends Error {
  /** Where no answer of its own tells it. */
  readonly statusCode = 429;
  readonly limit: RateLimit;
  readonly retryAfterSeconds: number;
  /** Nothing is exceeded, and nothing was checked: too many guesses at one subject came at once. */
  readonly isTemporary: boolean;
  constructor(limit: RateLimit, retryAfterSeconds: number, { isTemporary = false } = {}) {
    super(
      isTemporary ? `too many attempts at once under ${limit.name}` : `rate limit ${limit.name} exceeded`,
    );
    this.name = "RateLimited";
    rateLimitRefusals.at(limit.name).value++;
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isTemporary = isTemporary;
  }
}

/** A limit, and what it counts for: stored as a hash. */
export interface Counted {
  readonly limit: RateLimit;
  readonly subject: string;
  /** Another organisation than the request's: second factors count at the home of their user. */
  readonly orgId?: string;
}

export const counterOf = (orgId: string, { limit, subject, orgId: own = orgId }: Counted): Counter => ({
  orgId: own,
  bucket: `${limit.name}:${sha256Base64url(subject)}`,
  max: limit.count,
  windowMs: limit.windowSeconds * 1000,
});

/**
 * Counts a request, whatever comes of it. Guesses at a secret are counted by `checkGuess` (attempts.ts).
 * @throws RateLimited if one limit is exceeded; the request then counts under none
 */
export async function countAttempt(
  deps: CoreDeps,
  orgId: string,
  counted: readonly Counted[],
): Promise<void> {
  const now = deps.clock();
  const counters = counted.map((one) => counterOf(orgId, one));
  // A network that is limited leaves no rows of invented accounts.
  if (counted.length > 1) await refuseIfExceeded(deps, counted, counters);
  if (await takeAll(deps.database.query, counters, now)) return;
  await refuseIfExceeded(deps, counted, counters);
  // The window ended between the two statements.
  return countAttempt(deps, orgId, counted);
}

async function takeAll(db: Db, counters: readonly Counter[], now: number): Promise<boolean> {
  const taken: Array<{ counter: Counter; windowStartedAt: number }> = [];
  for (const counter of counters) {
    const windowStartedAt = await takeHit(db, counter, now);
    if (windowStartedAt === undefined) {
      for (const one of taken) await giveBackHit(db, one.counter, one.windowStartedAt);
      return false;
    }
    taken.push({ counter, windowStartedAt });
  }
  return true;
}

/** @returns the counters. @throws RateLimited */
export async function refuseIfExceeded(
  { database, clock }: CoreDeps,
  counted: readonly Counted[],
  counters: readonly Counter[],
): Promise<CounterState[]> {
  const now = clock();
  const states = await readCounters(database.query, counters, now);
  for (const [at, { limit }] of counted.entries()) {
    const { failures = 0, endsAt = now } = states[at] ?? {};
    if (failures >= limit.count) throw new RateLimited(limit, Math.max(1, Math.ceil((endsAt - now) / 1000)));
  }
  return states;
}

/** Response headers of an exceeded limit (RateLimit header fields for HTTP, Internet-Draft). */
export function rateLimitHeaders({ limit, retryAfterSeconds }: RateLimited): Record<string, string> {
  return {
    "ratelimit-policy": `"${limit.name}";q=${limit.count};w=${limit.windowSeconds}`,
    ratelimit: `"${limit.name}";r=0;t=${retryAfterSeconds}`,
  };
}

/**
 * The network that a client's address counts as, in whichever spelling: an IPv6 /64, because a subscriber has a whole one, or
 * an IPv4 address, also from its IPv4-mapped form (RFC 4291 §2.5.5.2) or with the port that some proxies add.
 */
export function networkPrefix(peer: string): string {
  const address = peer.replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1").replace(/^\[([^\]]+)\](?::\d+)?$/, "$1");
  const [withoutZone = ""] = address.split("%");
  if (!isIPv6(withoutZone)) return address;
  const groups = groupsOf(withoutZone);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The last two may be written as an IPv4 address.
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = "", tail] = hex.split("::");
  const read = (text = "") => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, behind] = [read(head), read(tail)];
  const zeros = tail === undefined ? 0 : 8 - before.length - behind.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...behind];
}

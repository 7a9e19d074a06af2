/** Pending sign-ins. Each has its own sealed cookie, so that several tabs can sign in at once and the server keeps no state. */
import type { JWK } from "jose";
import { randomBase64url } from "../base64url.ts";
import { parseCookies } from "../cookies/cookie-header.ts";
import { createSealedCookie, type SealedCookie, type SealedCookieOptions } from "../cookies/sealed-cookie.ts";
import { isRecord, withoutUndefined } from "../tokens/claims.ts";

/** What the provider's response must match, and where to continue. */
export interface LoginAttempt {
  /** RFC 6749 §10.12: the response must contain it, and the browser the matching cookie. */
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636 §4.1. */
  readonly verifier: string;
  /** Absolute, at the application's origin. */
  readonly returnTo: string;
  /** The organisation that was asked for: another one must not answer. */
  readonly organisation?: string;
  /** The private key that code and tokens are bound to (RFC 9449 §10). */
  readonly dpopKey?: JWK;
}

const LIFETIME_SECONDS = 600;
const MAX_ATTEMPTS = 5;
/** Characters of these and of all cookies: links on other sites must not fill the 16 KiB of headers servers accept. */
const MAX_LENGTH = 5_000;
const MAX_TOTAL_LENGTH = 14_000;
/** The id (start time as sortable digits, and a random part), then the secret part. */
const statePattern = /^(\d{11}-[\w-]{11})\.[\w-]{43}$/;

/** @param options.name prefix of the cookies. @param options.party provider and client: responses for another one don't match */
export function createLoginAttempts(
  options: Omit<SealedCookieOptions, "purpose" | "lifetimeSeconds"> & { readonly party: string },
) {
  const { party, clock } = options;
  const cookieFor = (id: string): SealedCookie =>
    createSealedCookie({
      ...options,
      name: `${options.name}-${id}`,
      purpose: "oauth-login",
      lifetimeSeconds: LIFETIME_SECONDS,
    });
  return {
    /** The cookies store the attempt, and delete those over the limit. */
    create: async (
      request: Request,
      returnTo: string,
      added: { readonly [Name in "organisation" | "dpopKey"]?: LoginAttempt[Name] | undefined } = {},
    ) => {
      const id = `${String(Math.floor(clock() / 1000)).padStart(11, "0")}-${randomBase64url(8)}`;
      const state = `${id}.${randomBase64url()}`;
      const secrets = { state, nonce: randomBase64url(), verifier: randomBase64url() };
      const attempt: LoginAttempt = { ...secrets, returnTo, ...withoutUndefined(added) };
      const written = await cookieFor(id).write({ ...attempt, party }, request);
      const surplus = surplusAttempts(request, options.name, written.join("").length);
      return {
        attempt,
        cookies: [...written, ...surplus.flatMap((other) => cookieFor(other).clear(request))],
      };
    },
    /** Undefined if this browser has none with this `state`, or it is older than ten minutes. */
    find: async (request: Request, state: string): Promise<LoginAttempt | undefined> => {
      const id = statePattern.exec(state)?.[1];
      if (id === undefined) return undefined;
      const attempt = parseAttempt(await cookieFor(id).read(request), party);
      return attempt?.state === state ? attempt : undefined;
    },
    /** An attempt gets one response. */
    delete: (request: Request, state: string): string[] => {
      const id = statePattern.exec(state)?.[1];
      return id === undefined ? [] : cookieFor(id).clear(request);
    },
  };
}

/** Ids of the oldest attempts, which must go so that the others and the new one stay within the limits. */
function surplusAttempts(request: Request, name: string, added: number): string[] {
  const lengths = attemptLengths(request, name);
  const total = (request.headers.get("cookie") ?? "").length;
  const others = total - [...lengths.values()].reduce((sum, length) => sum + length, 0);
  const max = Math.min(MAX_LENGTH, MAX_TOTAL_LENGTH - others);
  let length = added;
  const newestFirst = [...lengths.keys()].sort().reverse();
  return newestFirst.filter((id, index) => {
    length += lengths.get(id) ?? 0;
    return index + 1 >= MAX_ATTEMPTS || length > max;
  });
}

/** The cookie length of each pending attempt of this browser, by id. */
function attemptLengths(request: Request, name: string): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const [cookie, value] of parseCookies(request)) {
    const [, prefix, id] = /^(?:__Host-)?(.*)-(\d{11}-[\w-]{11})(?:\.\d)?$/.exec(cookie) ?? [];
    if (prefix !== name || id === undefined) continue;
    lengths.set(id, (lengths.get(id) ?? 0) + cookie.length + value.length);
  }
  return lengths;
}

function parseAttempt(value: unknown, party: string): LoginAttempt | undefined {
  if (!isRecord(value) || value["party"] !== party) return undefined;
  const { state, nonce, verifier, returnTo, organisation = "" } = value;
  const members = [state, nonce, verifier, returnTo, organisation];
  return members.every((text) => typeof text === "string") ? (value as unknown as LoginAttempt) : undefined;
}

/**
 * Sign-ins that a browser has begun and not finished. Each has a sealed cookie of its own, so that several tabs can sign in at
 * once, and none of it is kept at the application's side.
 */
import { cookiesOf } from "../cookies/cookie-header.ts";
import { createSealedCookie, type SealedCookie } from "../cookies/sealed-cookie.ts";
import { isRecord } from "../tokens/claims.ts";
import { randomText } from "./random-text.ts";

/** What the answer must fit, and what is done with it. */
export interface LoginAttempt {
  /** Names the attempt (RFC 6749 §10.12): the answer must have it, and the browser the cookie that goes with it. */
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636 §4.1. */
  readonly verifier: string;
  /** Absolute, at the application's origin. */
  readonly returnTo: string;
}

export interface LoginAttempts {
  /** @returns the attempt and the `Set-Cookie` values that keep it and drop those over the limit */
  begin(request: Request, returnTo: string): Promise<{ attempt: LoginAttempt; cookies: string[] }>;
  /** The attempt of an answer's `state`; undefined when this browser has none, or it is older than ten minutes. */
  find(request: Request, state: string): Promise<LoginAttempt | undefined>;
  /** `Set-Cookie` values that drop it: an attempt has one answer. */
  drop(request: Request, state: string): string[];
}

export interface LoginAttemptsOptions {
  /** Of the cookies; the attempt's own id comes after it. */
  readonly name: string;
  /** Provider and client: an attempt with one of them takes no answer of another. */
  readonly party: string;
  readonly secrets: readonly string[];
  readonly isSecure: boolean;
  readonly clock: () => number;
}

const LIFETIME_SECONDS = 600;
const MOST_KEPT = 5;
/**
 * Characters of all their cookies, and of all cookies that the browser sends. Servers refuse a request with more than 16 KiB of
 * headers before the filter sees it, and links of strangers begin sign-ins too: they must not be able to lock somebody out.
 */
const MOST_LENGTH = 5_000;
const MOST_LENGTH_OF_ALL = 14_000;
/** When it began, as digits that sort, and something random; then what makes the state unguessable. */
const statePattern = /^(\d{11}-[\w-]{11})\.[\w-]{43}$/;

export function createLoginAttempts(options: LoginAttemptsOptions): LoginAttempts {
  const { party, clock } = options;
  const cookieOf = (id: string): SealedCookie =>
    createSealedCookie({
      ...options,
      name: `${options.name}-${id}`,
      purpose: "oauth-login",
      lifetimeSeconds: LIFETIME_SECONDS,
    });
  return {
    begin: async (request, returnTo) => {
      const id = `${String(Math.floor(clock() / 1000)).padStart(11, "0")}-${randomText(8)}`;
      const state = `${id}.${randomText()}`;
      const attempt: LoginAttempt = { state, nonce: randomText(), verifier: randomText(), returnTo };
      const written = await cookieOf(id).write({ ...attempt, party }, request);
      const surplus = surplusOf(request, options.name, written.join("").length);
      return {
        attempt,
        cookies: [...written, ...surplus.flatMap((other) => cookieOf(other).clear(request))],
      };
    },
    find: async (request, state) => {
      const id = statePattern.exec(state)?.[1];
      if (id === undefined) return undefined;
      const attempt = attemptOf(await cookieOf(id).read(request), party);
      return attempt?.state === state ? attempt : undefined;
    },
    drop: (request, state) => {
      const id = statePattern.exec(state)?.[1];
      return id === undefined ? [] : cookieOf(id).clear(request);
    },
  };
}

/** Ids of those that go, the oldest first, so that the others and the one that begins now keep within the limits. */
function surplusOf(request: Request, name: string, added: number): string[] {
  const lengths = lengthsIn(request, name);
  const all = (request.headers.get("cookie") ?? "").length;
  const others = all - [...lengths.values()].reduce((sum, length) => sum + length, 0);
  const most = Math.min(MOST_LENGTH, MOST_LENGTH_OF_ALL - others);
  let length = added;
  return [...lengths.keys()]
    .sort()
    .reverse()
    .filter((id, index) => {
      length += lengths.get(id) ?? 0;
      return index + 1 >= MOST_KEPT || length > most;
    });
}

/** What the cookies of each attempt under way in this browser take of its requests, by the attempt's id. */
function lengthsIn(request: Request, name: string): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const [cookie, value] of cookiesOf(request)) {
    const [, own, id] = /^(?:__Host-)?(.*)-(\d{11}-[\w-]{11})(?:\.\d)?$/.exec(cookie) ?? [];
    if (own !== name || id === undefined) continue;
    lengths.set(id, (lengths.get(id) ?? 0) + cookie.length + value.length);
  }
  return lengths;
}

function attemptOf(value: unknown, party: string): LoginAttempt | undefined {
  if (!isRecord(value) || value["party"] !== party) return undefined;
  const { state, nonce, verifier, returnTo } = value;
  const texts = [state, nonce, verifier, returnTo];
  return texts.every((text) => typeof text === "string") ? (value as unknown as LoginAttempt) : undefined;
}

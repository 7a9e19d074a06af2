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
/** Each is under 4 KB, and servers take 16 KB of headers or less. */
const MOST_KEPT = 5;
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
      const others = idsIn(request, options.name);
      const surplus = others.slice(0, Math.max(0, others.length - MOST_KEPT + 1));
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

/** Of the attempts under way in this browser, the oldest first. */
function idsIn(request: Request, name: string): string[] {
  const start = `${name}-`;
  return [...cookiesOf(request).keys()]
    .map((cookie) => cookie.replace(/^__Host-/, ""))
    .filter((cookie) => cookie.startsWith(start))
    .map((cookie) => cookie.slice(start.length))
    .filter((id) => /^\d{11}-[\w-]{11}$/.test(id))
    .sort();
}

function attemptOf(value: unknown, party: string): LoginAttempt | undefined {
  if (!isRecord(value) || value["party"] !== party) return undefined;
  const { state, nonce, verifier, returnTo } = value;
  const texts = [state, nonce, verifier, returnTo];
  return texts.every((text) => typeof text === "string") ? (value as unknown as LoginAttempt) : undefined;
}

/** Polling the token endpoint until a user has decided elsewhere (RFC 8628 §3.4, CIBA Core §10.1), and what comes of it. */
import { decodeJwt } from "jose";
import { errorReporter } from "../application-callbacks.ts";
import { SignetError } from "../errors.ts";
import { pause } from "../pause.ts";
import { scopesOfClaims } from "../principal.ts";
import { createTrustedKeys } from "../sovereign/sovereign-key-source.ts";
import type { Claims } from "../tokens/claims.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { isSignedAccessToken } from "../tokens/signed-access-token.ts";
import type { GrantSettings } from "./grant-settings.ts";
import { requestTokens, type TokenSet } from "./oauth-client.ts";

/** The granted tokens, and who granted them. */
export interface UserTokens extends TokenSet {
  /** Of the verified ID token: who signed in. Undefined without the scope `openid`. */
  readonly claims: Claims | undefined;
  /** With sovereign signing, what the token response says: `scopes` are then those of a token that an agent has signed. */
  readonly unsignedScopes?: readonly string[];
}

/** How the answer is waited for. */
export interface PollingOptions {
  /** Stops waiting; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Replaces the timer, for tests and unusual platforms. */
  readonly wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface Pending {
  readonly intervalSeconds: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const DEFAULT_INTERVAL_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 300;
/** Added on `slow_down` (RFC 8628 §3.5, CIBA Core §11). */
const SLOW_DOWN_SECONDS = 5;

/** @param now milliseconds, taken before the request. @param name of the response, in errors */
export function parsePending(
  { expires_in, interval }: Readonly<Record<string, unknown>>,
  now: number,
  name: string,
): Pending {
  if (typeof expires_in !== "number" || !(expires_in > 0))
    throw new SignetError("provider_answer", `The ${name} response has no expires_in.`);
  return {
    intervalSeconds: typeof interval === "number" && interval > 0 ? interval : DEFAULT_INTERVAL_SECONDS,
    expiresAt: now + expires_in * 1000,
  };
}

/**
 * @param form of the token request
 * @throws SignetError `provider_refused` with `oauthError` `access_denied` or `expired_token`, other `provider_…`; the signal's reason
 */
export async function pollTokens(
  grant: GrantSettings,
  form: Readonly<Record<string, string | undefined>>,
  { expiresAt, ...pending }: Pending,
  { wait = pause, signal }: PollingOptions,
): Promise<TokenSet> {
  let { intervalSeconds } = pending;
  for (;;) {
    signal?.throwIfAborted();
    await wait(Math.min(intervalSeconds, MAX_INTERVAL_SECONDS) * 1000, signal);
    signal?.throwIfAborted();
    if (grant.clock() >= expiresAt)
      throw new SignetError("provider_refused", "The user did not respond in time.", {
        oauthError: "expired_token",
      });
    const outcome = await pollOnce(grant, form);
    if (typeof outcome === "object") return outcome;
    if (outcome === "slow_down") intervalSeconds += SLOW_DOWN_SECONDS;
    // RFC 8628 §3.5: back off from an unavailable provider.
    if (outcome === "unreachable") intervalSeconds *= 2;
  }
}

async function pollOnce(
  grant: GrantSettings,
  form: Readonly<Record<string, string | undefined>>,
): Promise<TokenSet | "pending" | "slow_down" | "unreachable"> {
  try {
    return await requestTokens(grant, { ...form, resource: grant.resource });
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    if (error.code === "provider_unreachable") return "unreachable";
    if (error.oauthError === "authorization_pending") return "pending";
    if (error.oauthError === "slow_down") return "slow_down";
    throw error;
  }
}

/** @throws SignetError `token_…` for an invalid ID token */
export async function verifyUserTokens(grant: GrantSettings, tokens: TokenSet): Promise<UserTokens> {
  const { settings, provider, runtime, clientId, clock } = grant;
  const { idToken, accessToken } = tokens;
  const checks = {
    keys: createTrustedKeys(settings, provider, runtime),
    issuer: settings.tokenIssuer ?? grant.issuer,
    ...{ clientId, clock },
  };
  const claims =
    idToken === undefined
      ? undefined
      : await verifyIdToken(idToken, { ...checks, algorithm: grant.idTokenAlg, accessToken });
  if (settings.sovereign === undefined) return { ...tokens, claims };
  const signed = { ...checks, isSovereign: true, onError: errorReporter(runtime.onError) };
  const isSigned = claims?.sub !== undefined && (await isSignedAccessToken(signed, accessToken, claims.sub));
  const scopes = isSigned ? scopesOfClaims(decodeJwt(accessToken)) : [];
  return { ...tokens, claims, scopes, unsignedScopes: tokens.scopes ?? [] };
}

/**
 * New tokens for a session (RFC 6749 §6). A refresh token works once, and tabs, parallel requests and other processes hold the
 * same one: here all of them share one call and its outcome. Other processes get the same successor from Signet for some
 * seconds (`refreshTokenGraceSeconds`).
 */
import { decodeJwt } from "jose";
import { SignetError } from "../errors.ts";
import { sha256Text } from "../sign-in/random-text.ts";
import type { Claims } from "../tokens/claims.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import type { FederatedContext, RefreshOutcome } from "./federated-context.ts";
import { type FederatedSession, renewedSession } from "./federated-session.ts";
import { requestTokens, type TokenAnswer } from "./token-endpoint.ts";
import { fetchUserinfo, type Userinfo } from "./userinfo.ts";

/** For requests that still bring the cookie of before: those under way, and those whose answer was lost. */
const KEEP_REFRESHED_MS = 120_000;
const KEEP_ENDED_MS = 30_000;
/** A provider that hangs must not hold up every request for its five seconds. */
const KEEP_FAILED_MS = 3_000;
/** Sessions whose outcome is kept; each is a few kilobytes. */
export const MOST_REFRESHES = 5_000;

/** @returns milliseconds for which an outcome is given to others with the same refresh token */
export function keepOutcomeMs(outcome: RefreshOutcome, now: number): number {
  if (outcome.kind !== "refreshed") return outcome.kind === "ended" ? KEEP_ENDED_MS : KEEP_FAILED_MS;
  // Where refresh tokens are not rotated, the next refresh has the same key and must not find this one.
  const untilNext = Math.max(0, outcome.session.refreshAt - now);
  return outcome.isRotated ? KEEP_REFRESHED_MS : Math.min(KEEP_REFRESHED_MS, untilNext);
}

export const isDue = ({ refreshAt }: FederatedSession, now: number): boolean => now >= refreshAt;

/** @param session due, and with a refresh token */
export async function refresh(
  context: FederatedContext,
  session: RefreshableSession,
): Promise<RefreshOutcome> {
  let current = session;
  // Who comes with an old cookie gets its successor, which may itself be due, or refreshed, by now.
  for (let step = 0; step < 5; step++) {
    const before = current;
    const outcome = await context.refreshes.run(await sha256Text(before.refreshToken), () =>
      useRefreshToken(context, before),
    );
    if (outcome.kind !== "refreshed" || !isDue(outcome.session, context.clock())) return outcome;
    if (!hasRefreshToken(outcome.session) || !outcome.isRotated) return outcome;
    current = outcome.session;
  }
  return { kind: "failed", error: new SignetError("provider_answer", "The provider's tokens end at once.") };
}

export type RefreshableSession = FederatedSession & { readonly refreshToken: string };

export const hasRefreshToken = (session: FederatedSession): session is RefreshableSession =>
  session.refreshToken !== undefined;

async function useRefreshToken(
  context: FederatedContext,
  session: RefreshableSession,
): Promise<RefreshOutcome> {
  const { refreshToken } = session;
  try {
    const answer = await requestTokens(context, { grant_type: "refresh_token", refresh_token: refreshToken });
    const idToken = await checkedIdToken(context, session, answer);
    const userinfo = await newUserinfo(context, session, answer);
    const renewed = renewedSession(session, { answer, idToken, userinfo }, context.clock());
    const isRotated = renewed.refreshToken !== refreshToken;
    return { kind: "refreshed", session: renewed, isRotated };
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    context.onError(error);
    return { kind: outcomeOf(error), error };
  }
}

/** Answers after which only the person can help (RFC 6749 §5.2, OpenID Connect Core §3.1.2.6). */
const ENDING: ReadonlySet<string> = new Set([
  "invalid_grant",
  "access_denied",
  "interaction_required",
  "login_required",
  "consent_required",
]);

/** A client that is set up wrongly, or a provider that is away, has nothing to do with this session. */
function outcomeOf({ code, oauthError }: SignetError): "ended" | "failed" {
  if (code === "provider_refused") return ENDING.has(oauthError ?? "") ? "ended" : "failed";
  return code.startsWith("token_") ? "ended" : "failed";
}

/**
 * OpenID Connect Core §12.2: there need not be a new ID token, but one that is there must speak of the same user and the same
 * sign-in. With signing agents there must be one, or the service alone could keep a session going.
 */
async function checkedIdToken(
  context: FederatedContext,
  session: FederatedSession,
  { idToken, accessToken }: TokenAnswer,
): Promise<string> {
  const { keys, issuer, clientId, clock, isSovereign } = context;
  if (idToken === undefined) {
    if (!isSovereign) return session.idToken;
    throw new SignetError("token_missing", "A refresh without an ID token is not signed by the pool.");
  }
  const before: Claims = decodeJwt(session.idToken);
  const claims = await verifyIdToken(idToken, { keys, issuer, clientId, accessToken, clock });
  if (claims.sub !== before.sub)
    throw new SignetError("token_subject", "The refreshed ID token is about another user.");
  if (claims["nonce"] !== undefined && claims["nonce"] !== before["nonce"])
    throw new SignetError("token_nonce", "The refreshed ID token belongs to another sign-in.");
  const [authTime, authTimeBefore] = [claims["auth_time"], before["auth_time"]];
  if (authTime !== undefined && authTimeBefore !== undefined && authTime !== authTimeBefore)
    throw new SignetError("token_claim", "The refreshed ID token is of another authentication.");
  return idToken;
}

/** The user's properties may have changed. When they cannot be had now, those that are known stay until the next refresh. */
async function newUserinfo(
  context: FederatedContext,
  { idToken, userinfo }: FederatedSession,
  { accessToken }: TokenAnswer,
): Promise<Userinfo> {
  try {
    return await fetchUserinfo(context, accessToken, decodeJwt(idToken).sub ?? "");
  } catch (error) {
    if (!(error instanceof SignetError) || error.code === "token_subject") throw error;
    context.onError(error);
    return userinfo;
  }
}

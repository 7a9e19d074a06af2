/**
 * Refreshes a session's tokens (RFC 6749 §6). Refresh tokens are single-use: within a process, requests with the same one share a
 * call; other processes get the same successor from Signet for `refreshTokenGraceSeconds`.
 */
import { decodeJwt } from "jose";
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import { type FetchedUserinfo, fetchUserinfo } from "../provider/userinfo.ts";
import type { Claims } from "../tokens/claims.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { isSignedAccessToken } from "../tokens/signed-access-token.ts";
import type { FederatedContext, RefreshOutcome } from "./federated-context.ts";
import { type FederatedSession, withNewTokens } from "./federated-session.ts";
import { requestTokens, type TokenResponse } from "./provider-calls.ts";

/** For requests with the previous cookie: concurrent ones, and those whose response was lost. */
const KEEP_REFRESHED_MS = 120_000;
const KEEP_ENDED_MS = 30_000;
/** A hanging provider must not delay every request by its five seconds. */
const KEEP_FAILED_MS = 3_000;

type RefreshableSession = FederatedSession & { readonly refreshToken: string };

const hasRefreshToken = (session: FederatedSession): session is RefreshableSession =>
  session.refreshToken !== undefined;

const isRefreshDue = ({ refreshAt }: FederatedSession, now: number): boolean => now >= refreshAt;

/** Undefined if the session has ended. @throws SignetError if the provider is unavailable and the access token has expired */
export async function renewSession(
  context: FederatedContext,
  session: FederatedSession,
): Promise<FederatedSession | undefined> {
  const now = context.clock();
  if (!isRefreshDue(session, now)) return session;
  if (!hasRefreshToken(session)) return now < session.endsAt ? session : undefined;
  const outcome = await refreshSession(context, session);
  if (outcome.kind === "refreshed") return outcome.session;
  if (outcome.kind === "ended") return undefined;
  // While the access token is valid, an outage of the provider goes unnoticed.
  if (context.clock() < session.endsAt) return session;
  throw outcome.error;
}

/** @param session due for a refresh */
async function refreshSession(
  context: FederatedContext,
  session: RefreshableSession,
): Promise<RefreshOutcome> {
  let current = session;
  // A late request with an old cookie gets the successor, which may itself be due, or refreshed, by now.
  for (let step = 0; step < 5; step++) {
    const previous = current;
    const key = await sha256Base64url(previous.refreshToken);
    const outcome = await context.refreshes.run(key, () => redeemRefreshToken(context, previous));
    if (outcome.kind !== "refreshed" || !isRefreshDue(outcome.session, context.clock())) return outcome;
    if (!hasRefreshToken(outcome.session) || !outcome.isRotated) return outcome;
    current = outcome.session;
  }
  const error = new SignetError("provider_answer", "The provider's tokens have already expired.");
  return { kind: "failed", error, keepMs: 0 };
}

async function redeemRefreshToken(
  context: FederatedContext,
  session: RefreshableSession,
): Promise<RefreshOutcome> {
  const { refreshToken } = session;
  try {
    const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
    const dpop = context.dpopOf(session.dpopKey);
    const response = await requestTokens({ ...context, dpop }, grant);
    const idToken = await verifyRefreshedIdToken(context, session, response);
    const fetched = await refreshUserinfo(context, session, response);
    const isSigned = await isSignedAccessToken(context, response.accessToken, decodeJwt(idToken).sub ?? "");
    const now = context.clock();
    const { isSovereign } = context;
    const renewed = withNewTokens(session, { response, idToken, fetched, isSigned, isSovereign }, now);
    const isRotated = renewed.refreshToken !== refreshToken;
    // Without rotation the next refresh has the same key and must not get this outcome.
    const untilNext = isRotated ? KEEP_REFRESHED_MS : Math.max(0, renewed.refreshAt - now);
    const keepMs = Math.min(KEEP_REFRESHED_MS, untilNext);
    return { kind: "refreshed", session: renewed, isRotated, keepMs };
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    context.onError(error);
    return endsSession(error)
      ? { kind: "ended", error, keepMs: KEEP_ENDED_MS }
      : { kind: "failed", error, keepMs: KEEP_FAILED_MS };
  }
}

/** Errors only the user can resolve (RFC 6749 §5.2, OpenID Connect Core §3.1.2.6). */
const endingErrors: ReadonlySet<string> = new Set([
  "invalid_grant",
  "access_denied",
  "interaction_required",
  "login_required",
  "consent_required",
]);

/** A misconfigured client, or an unavailable provider, says nothing about the session. */
function endsSession({ code, oauthError }: SignetError): boolean {
  return code === "provider_refused" ? endingErrors.has(oauthError ?? "") : code.startsWith("token_");
}

/** OpenID Connect Core §12.2. With signing agents an ID token is required: the service alone must not keep a session alive. */
async function verifyRefreshedIdToken(
  context: FederatedContext,
  session: FederatedSession,
  { idToken, accessToken }: TokenResponse,
): Promise<string> {
  const { keys, issuer, clientId, algorithm, clock, isSovereign } = context;
  if (idToken === undefined) {
    if (!isSovereign) return session.idToken;
    throw new SignetError("token_missing", "The refresh response has no ID token signed by the pool.");
  }
  const previous: Claims = decodeJwt(session.idToken);
  const claims = await verifyIdToken(idToken, { keys, issuer, clientId, algorithm, accessToken, clock });
  if (claims.sub !== previous.sub)
    throw new SignetError("token_subject", "The refreshed ID token is about another user.");
  if (claims["nonce"] !== undefined && claims["nonce"] !== previous["nonce"])
    throw new SignetError("token_nonce", "The refreshed ID token belongs to another sign-in.");
  const [authTime, previousAuthTime] = [claims["auth_time"], previous["auth_time"]];
  if (authTime !== undefined && previousAuthTime !== undefined && authTime !== previousAuthTime)
    throw new SignetError("token_claim", "The refreshed ID token is about another authentication.");
  return idToken;
}

/**
 * The user's properties may have changed. If they can't be fetched now, the known ones stay until the next refresh, but not as signed
 * ones: a service that keeps new ones back must not keep anyone's role.
 */
async function refreshUserinfo(
  context: FederatedContext,
  { idToken, userinfo, dpopKey }: FederatedSession,
  { accessToken }: TokenResponse,
): Promise<FetchedUserinfo> {
  const source = { ...context, dpop: context.dpopOf(dpopKey), signed: context };
  try {
    return await fetchUserinfo(source, accessToken, decodeJwt(idToken).sub ?? "");
  } catch (error) {
    if (!(error instanceof SignetError) || error.code === "token_subject") throw error;
    context.onError(error);
    return { claims: userinfo, isSigned: false };
  }
}

/** The session of a request, refreshed when due. */
import { decodeJwt } from "jose";
import { callApplication } from "../application-callbacks.ts";
import { SignetError } from "../errors.ts";
import { hasEnded, localSessionKey } from "../sign-in/logout-memory.ts";
import { type CurrentSession, SESSION_SECONDS } from "../sign-in/sign-in.ts";
import type { FederatedContext } from "./federated-context.ts";
import { type FederatedSession, parseSession } from "./federated-session.ts";
import { hasRefreshToken, isRefreshDue, type RefreshableSession, refreshSession } from "./refresh.ts";

export async function currentSession(
  context: FederatedContext,
  request: Request,
): Promise<CurrentSession<FederatedSession>> {
  try {
    const session = parseSession(await context.session.read(request), context.party);
    if (!session || (await hasSessionEnded(context, session)))
      return { kind: "none", cookies: context.session.clear(request) };
    const now = context.clock();
    if (!isRefreshDue(session, now)) return { kind: "active", session, cookies: [] };
    if (hasRefreshToken(session)) return await refreshedSession(context, request, session);
    return now < session.endsAt
      ? { kind: "active", session, cookies: [] }
      : { kind: "none", cookies: context.session.clear(request) };
  } catch (error) {
    if (error instanceof SignetError) return { kind: "unavailable", error };
    throw error;
  }
}

async function refreshedSession(
  context: FederatedContext,
  request: Request,
  session: RefreshableSession,
): Promise<CurrentSession<FederatedSession>> {
  const outcome = await refreshSession(context, session);
  if (outcome.kind === "ended") return { kind: "none", cookies: context.session.clear(request) };
  if (outcome.kind === "failed") {
    // While the access token is valid, an outage of the provider goes unnoticed.
    return context.clock() < session.endsAt
      ? { kind: "active", session, cookies: [] }
      : { kind: "unavailable", error: outcome.error };
  }
  // It may have been signed out meanwhile; its cookie must not come back. The browser may already have another session's
  // cookie, which must not be deleted: the next request deletes what is still this one's.
  if (await hasSessionEnded(context, session)) return { kind: "none", cookies: [] };
  const cookies = await context.session.write(outcome.session, request);
  return { kind: "active", session: outcome.session, cookies };
}

/** A copied cookie, or a pending refresh, must not restore the session. @throws whatever the memory throws */
export async function rememberEnd(
  { memory, clock }: FederatedContext,
  { id }: FederatedSession,
): Promise<void> {
  await memory.remember(localSessionKey(id), Math.floor(clock() / 1000), SESSION_SECONDS);
}

/** @throws SignetError if unknown: then nobody is let in */
export async function hasSessionEnded(
  { memory, issuer }: FederatedContext,
  { id, sid, since, idToken }: FederatedSession,
): Promise<boolean> {
  const ids = { id, sid, sub: decodeJwt(idToken).sub ?? "", since };
  return callApplication("The logout memory", () => hasEnded(memory, issuer, ids));
}

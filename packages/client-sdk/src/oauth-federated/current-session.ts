/** The session that a request brings, refreshed when it is due. */
import { decodeJwt } from "jose";
import { SignetError } from "../errors.ts";
import { fromOutside } from "../from-outside.ts";
import { hasEnded, ownSessionKey } from "../sign-in/logout-memory.ts";
import type { CurrentSession } from "../sign-in/mechanism.ts";
import { SESSION_SECONDS } from "../sign-in/sign-in-context.ts";
import type { FederatedContext } from "./federated-context.ts";
import { type FederatedSession, sessionOf } from "./federated-session.ts";
import { hasRefreshToken, isDue, type RefreshableSession, refresh } from "./refresh.ts";

export async function currentSession(
  context: FederatedContext,
  request: Request,
): Promise<CurrentSession<FederatedSession>> {
  try {
    const session = sessionOf(await context.session.read(request), context.party);
    if (!session || (await isOver(context, session)))
      return { kind: "none", cookies: context.session.clear(request) };
    const now = context.clock();
    if (!isDue(session, now)) return { kind: "live", session, cookies: [] };
    if (hasRefreshToken(session)) return await refreshed(context, request, session);
    return now < session.endsAt
      ? { kind: "live", session, cookies: [] }
      : { kind: "none", cookies: context.session.clear(request) };
  } catch (error) {
    if (error instanceof SignetError) return { kind: "unavailable", error };
    throw error;
  }
}

async function refreshed(
  context: FederatedContext,
  request: Request,
  session: RefreshableSession,
): Promise<CurrentSession<FederatedSession>> {
  const outcome = await refresh(context, session);
  if (outcome.kind === "ended") return { kind: "none", cookies: context.session.clear(request) };
  if (outcome.kind === "failed") {
    // The access token is good for a while yet: who is signed in does not notice that the provider is away.
    return context.clock() < session.endsAt
      ? { kind: "live", session, cookies: [] }
      : { kind: "unavailable", error: outcome.error };
  }
  // It may have been signed out while this was under way; its cookie must not come back. By now the browser may have that of
  // another session, which must not be dropped: the next request drops what is still this one's.
  if (await isOver(context, session)) return { kind: "none", cookies: [] };
  const cookies = await context.session.write(outcome.session, request);
  return { kind: "live", session: outcome.session, cookies };
}

/**
 * Ends the application's own session: a copy of its cookie, or a refresh that is just under way, must not bring it back.
 *
 * @throws whatever the memory throws
 */
export async function rememberEnd(
  { memory, clock }: FederatedContext,
  { id }: FederatedSession,
): Promise<void> {
  await memory.remember(ownSessionKey(id), Math.floor(clock() / 1000), SESSION_SECONDS);
}

/** @throws SignetError when it cannot be told: then nobody is let in */
export async function isOver(
  { memory, issuer }: FederatedContext,
  { id, sid, since, idToken }: FederatedSession,
): Promise<boolean> {
  const names = { id, sid, sub: decodeJwt(idToken).sub ?? "", since };
  return fromOutside("The memory of ended sessions", () => hasEnded(memory, issuer, names));
}

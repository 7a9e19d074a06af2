/**
 * POST /oauth/{org}/device-bound-session/refresh: the session's key signs a challenge, and the browser gets the cookie for the next
 * minutes (DBSC §8.8). The session's own cookie is not asked for: browsers do not send it with a request that another site began.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { consumeOnce } from "../../../core/consumed-values.store.ts";
import type { Session } from "../../../core/sessions/session.ts";
import { findLiveSession } from "../../../core/sessions/sessions.store.ts";
import { hasExpired, recordUnproven } from "../../../core/sessions/sessions.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { type BrowserDeps, browserRoute, type Visit } from "../authorize/browser.ts";
import { countBinding } from "./binding-metrics.ts";
import { answeredChallenge, isSignedBy, presentedProof, presentedSessionId } from "./binding-proof.ts";
import { limitWrongProofs } from "./register.route.ts";
import { challengeHeader, sendJson, sendProofCookie } from "./session-instructions.ts";

export function refreshBindingRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.post("/oauth/:org/device-bound-session/refresh", browserRoute(deps, refresh));
}

async function refresh(deps: BrowserDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const { id: orgId } = organisation;
  const sessionId = presentedSessionId(request);
  if (sessionId === undefined)
    throw new OAuthError("invalid_request", "Sec-Secure-Session-Id is missing or malformed");
  const proof = presentedProof(request);
  const text = proof === undefined ? "" : answeredChallenge(proof);
  const challenge = deps.sessionBindings.readChallenge(orgId, "refresh", text);
  // Nothing was read of any session: whoever asks gets a challenge.
  if (proof === undefined || challenge?.sessionId !== sessionId) return askForProof(deps, visit, sessionId);
  const session = await liveSession(deps, visit, sessionId);
  if (!session?.boundKey) return endBinding(visit, sessionId);
  if (!isSignedBy(proof, session.boundKey)) {
    await recordUnproven(deps, session, "another-key");
    countBinding("refused");
    await limitWrongProofs(deps, visit);
    throw new OAuthError("invalid_request", "the proof is not signed by the session's key");
  }
  // Of the right key: a challenge that was used is a browser's that asked twice, and may ask again.
  const use = { orgId, kind: "session-challenge", value: text, expiresAt: challenge.expiresAt };
  if (!(await consumeOnce(deps.database.query, use))) return askForProof(deps, visit, sessionId);
  countBinding("refreshed");
  await sendProofCookie(deps, visit, session);
}

async function liveSession(
  deps: BrowserDeps,
  { organisation }: Visit,
  id: string,
): Promise<Session | undefined> {
  const now = deps.clock();
  const { query } = deps.database;
  const session = await findLiveSession(query, { orgId: organisation.id, id, now });
  if (!session || hasExpired(session, organisation, now)) return undefined;
  const user = await findUser(query, organisation.id, session.userId);
  return user && user.disabledAt === null ? session : undefined;
}

/** 403 and no other status: browsers give the session up for any other of the four hundreds. */
const askForProof = (deps: BrowserDeps, { organisation, reply }: Visit, sessionId: string): Promise<void> =>
  sendJson({ reply }, 403, { error: "proof_required" }, challengeHeader(deps, organisation.id, sessionId));

/**
 * The browser forgets its key: the session has ended, or never had one. The cookie stays: by now it may be that of the session which
 * came after, and of this one it is worth nothing.
 */
const endBinding = ({ reply }: Visit, sessionId: string): Promise<void> =>
  sendJson({ reply }, 200, { session_identifier: sessionId, continue: false });

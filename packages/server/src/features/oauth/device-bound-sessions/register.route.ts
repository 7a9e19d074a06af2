/**
 * POST /oauth/{org}/device-bound-session: the browser binds its session to a key of its machine (DBSC §8.9). The challenge is the
 * credential: only the answer that set the session's cookie had it.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Session } from "../../../core/sessions/session.ts";
import { bindSession, findLiveSession } from "../../../core/sessions/sessions.store.ts";
import { hasExpired } from "../../../core/sessions/sessions.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { type BrowserDeps, browserRoute, type Visit } from "../authorize/browser.ts";
import { limitNetwork } from "../network-limit.ts";
import { countBinding } from "./binding-metrics.ts";
import { answeredChallenge, presentedProof, registeredKey } from "./binding-proof.ts";
import { sendProofCookie } from "./session-instructions.ts";

export function registerBindingRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.post("/oauth/:org/device-bound-session", browserRoute(deps, register));
}

/** Nothing else is said: whoever has no challenge of ours learns nothing of a session. */
const refused = (cause: string) =>
  new OAuthError("invalid_request", "the session cannot be bound to this key", { cause });

async function register(deps: BrowserDeps, visit: Visit): Promise<void> {
  const bound = await bind(deps, visit);
  if (typeof bound === "string") {
    await limitWrongProofs(deps, visit);
    throw refused(bound);
  }
  countBinding("registered");
  await sendProofCookie(deps, visit, bound);
}

/** @returns the session, or why it is not bound */
async function bind(deps: BrowserDeps, { organisation, request }: Visit): Promise<Session | string> {
  const proof = presentedProof(request);
  if (proof === undefined) return "the request has no Secure-Session-Response";
  const { id: orgId } = organisation;
  const text = answeredChallenge(proof);
  const challenge = deps.sessionBindings.readChallenge(orgId, "register", text);
  if (!challenge) return "the challenge is not ours, or has expired";
  const key = registeredKey(proof);
  if ("fault" in key) return key.fault;
  const now = deps.clock();
  const { sessionId } = challenge;
  const { boundKey, alg } = key;
  return deps.database.transaction(async (tx) => {
    const session = await findLiveSession(tx, { orgId, id: sessionId, now });
    if (!session || hasExpired(session, organisation, now)) return "the session has ended";
    // Once: so no challenge serves twice either.
    if (!(await bindSession(tx, { orgId, id: sessionId, boundKey, now })))
      return "the session is bound already";
    await recordAuditEvent(tx, {
      ...{ orgId, at: now, actor: `user:${session.userId}`, action: "session.bound", target: sessionId },
      ...{ address: addressOf(request), details: { alg } },
    });
    return { ...session, boundKey, boundAt: now };
  });
}

/** Of the right ones none is counted: a network of many browsers refreshes often. @throws OAuthError 429 */
export const limitWrongProofs = (deps: BrowserDeps, { organisation, request }: Visit): Promise<void> =>
  limitNetwork(deps, organisation.id, {
    ...{ limit: deps.rateLimits["bound-session-address"], from: request },
    what: "wrong proofs of sessions",
  });

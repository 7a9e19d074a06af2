/** What a user sees of their own sign-ins, and ends: one of them, or all at once ("sign out everywhere"). */
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { endSessions } from "./end-sessions.ts";
import { findUserSessions, type SessionRecord } from "./sessions.store.ts";
import type { SessionDeps } from "./sessions.ts";

/** The living ones, the one used last first; at most a hundred. */
export async function listUserSessions(
  deps: SessionDeps,
  organisation: Organisation,
  userId: string,
): Promise<SessionRecord[]> {
  const now = deps.clock();
  return findUserSessions(deps.database.query, {
    orgId: organisation.id,
    userId,
    now,
    seenSince: now - organisation.settings.sessionIdleSeconds * 1000,
  });
}

interface Act {
  readonly orgId: string;
  readonly userId: string;
  readonly actor: string;
  readonly address?: string;
}

/** @returns false when the user has no such living session */
export async function endUserSession(deps: SessionDeps, act: Act & { sessionId: string }): Promise<boolean> {
  const now = deps.clock();
  const { orgId, userId, sessionId, actor, address } = act;
  return deps.database.transaction(async (tx) => {
    const ended = await endSessions(tx, { orgId, userId, sessionId, reason: "signed_out", now });
    if (ended === 0) return false;
    const from = address === undefined ? {} : { address };
    const event = { orgId, at: now, actor, ...from };
    // Somebody else's act on a user is found with the user.
    await recordAuditEvent(
      tx,
      actor === `user:${userId}`
        ? { ...event, action: "session.ended", target: sessionId }
        : { ...event, action: "user.session-ended", target: userId, details: { sessionId } },
    );
    return true;
  });
}

/**
 * Every browser session of the user in the organisation, and every refresh token, also those for the time when the user
 * is not there. @returns how many sessions there were
 */
export async function signOutEverywhere(deps: SessionDeps, act: Act): Promise<number> {
  const now = deps.clock();
  const { orgId, userId, actor, address } = act;
  return deps.database.transaction(async (tx) => {
    const ended = await endSessions(tx, { orgId, userId, reason: "signed_out_everywhere", now });
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: "user.signed-out-everywhere",
      target: userId,
      details: { sessions: ended },
      ...(address === undefined ? {} : { address }),
    });
    return ended;
  });
}

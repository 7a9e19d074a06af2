/** Lists and ends the sessions of a user: one, or all ("sign out everywhere"). */
import { type Act, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { endSessions } from "./end-sessions.ts";
import { findUserSessions, type SessionRecord } from "./sessions.store.ts";

/** The active ones, last used first; at most a hundred. */
export async function listUserSessions(
  deps: CoreDeps,
  organisation: Organisation,
  userId: string,
): Promise<SessionRecord[]> {
  const now = deps.clock();
  const seenSince = now - organisation.settings.sessionIdleSeconds * 1000;
  return findUserSessions(deps.database.query, { orgId: organisation.id, userId, now, seenSince });
}

type UserSignOut = Act & { readonly userId: string };

/** @returns false when the user has no such active session */
export async function endUserSession(
  deps: CoreDeps,
  { userId, sessionId, ...end }: UserSignOut & { sessionId: string },
): Promise<boolean> {
  const now = deps.clock();
  const { orgId, actor } = end;
  return deps.database.transaction(async (tx) => {
    const ended = await endSessions(tx, { orgId, userId, sessionId, reason: "signed_out", now });
    if (ended === 0) return false;
    // An administrator's action has the user as its target.
    await recordAuditEvent(
      tx,
      actor === `user:${userId}`
        ? { ...end, at: now, action: "session.ended", target: sessionId }
        : { ...end, at: now, action: "user.session-ended", target: userId, details: { sessionId } },
    );
    return true;
  });
}

/** Ends every session and refresh token of the user in the organisation. @returns how many sessions there were */
export async function signOutEverywhere(deps: CoreDeps, { userId, ...end }: UserSignOut): Promise<number> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const sessions = await endSessions(tx, {
      orgId: end.orgId,
      userId,
      reason: "signed_out_everywhere",
      now,
    });
    const event = { ...end, at: now, action: "user.signed-out-everywhere", target: userId } as const;
    await recordAuditEvent(tx, { ...event, details: { sessions } });
    return sessions;
  });
}

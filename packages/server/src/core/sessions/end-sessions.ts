/**
 * Ends sessions, in every case: the session, its refresh tokens and session keys, and a logout token to each application
 * that receives them (OpenID Connect Back-Channel Logout 1.0), in one transaction.
 */
import type { Db } from "../../db/open.ts";
import { type Act, recordAuditEvent } from "../audit/audit.store.ts";
import { type EndedSession, insertLogoutDeliveries } from "../backchannel-logout/backchannel-logout.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { revokeSessionKeys } from "../session-keys/session-keys.store.ts";
import { endRequestsOfSessions } from "../signing-pools/user-requests.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import {
  findUserSessions,
  markDeviceSessionsEnded,
  markGivenSessionsEnded,
  markSessionsEnded,
  type SessionRecord,
} from "./sessions.store.ts";

export interface SessionEnd {
  readonly orgId: string;
  readonly userId: string;
  /** One session of the user; without it all of them, and every refresh token and session key of the user. */
  readonly sessionId?: string;
  /** Stored with the revoked refresh tokens and session keys. */
  readonly reason:
    | "signed_out"
    | "signed_out_everywhere"
    | "signed_out_upstream"
    | "connection_ended"
    | "user_disabled"
    | "user_deleted"
    | "password_changed";
  readonly now: number;
}

/**
 * Ending one session keeps refresh tokens with `offline_access` and permanent session keys.
 * @returns how many sessions were active
 */
export async function endSessions(tx: Db, end: SessionEnd): Promise<number> {
  const { orgId, userId, sessionId, reason, now } = end;
  const ended = await markSessionsEnded(tx, end);
  if (sessionId === undefined) {
    await revokeTokenFamilies(tx, { orgId, userId, now, reason });
    await revokeSessionKeys(tx, { orgId, userId, now, reason });
  } else if (ended.length > 0) {
    await revokeTokenFamilies(tx, { orgId, sessionId, now, reason });
    await revokeSessionKeys(tx, { orgId, sessionId, now, reason });
  }
  const sessions = ended.map((id) => ({ id, userId }));
  await insertLogoutDeliveries(tx, orgId, sessions, now);
  return ended.length;
}

/** Databases limit the parameters of a statement. */
const MAX_IDS = 500;

/**
 * The same for many sessions, of any number of users, in as few statements as their number allows.
 * @returns those that were active
 */
export async function endGivenSessions(
  tx: Db,
  { orgId, ids, reason, now }: Omit<SessionEnd, "userId" | "sessionId"> & { readonly ids: readonly string[] },
): Promise<EndedSession[]> {
  const all: EndedSession[] = [];
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const ended = await markGivenSessionsEnded(tx, { orgId, ids: ids.slice(at, at + MAX_IDS), now });
    if (ended.length === 0) continue;
    const sessionIds = ended.map(({ id }) => id);
    await revokeTokenFamilies(tx, { orgId, sessionIds, now, reason });
    await revokeSessionKeys(tx, { orgId, sessionIds, now, reason });
    await insertLogoutDeliveries(tx, orgId, ended, now);
    all.push(...ended);
  }
  return all;
}

/**
 * Everything on a machine: the sessions that began on it, every refresh token and session key of theirs (those with
 * `offline_access` and permanent ones too: they are on the machine), the refresh tokens that are bound to the device, and what the
 * sessions wait for at signing agents.
 * @returns the sessions that were active
 */
export async function endDeviceSessions(
  tx: Db,
  { orgId, deviceId, now }: { readonly orgId: string; readonly deviceId: string; readonly now: number },
): Promise<EndedSession[]> {
  const ended = await markDeviceSessionsEnded(tx, { orgId, deviceId, now });
  const which = { orgId, deviceId, now, reason: "device_revoked" };
  await revokeTokenFamilies(tx, which);
  await revokeSessionKeys(tx, which);
  await endRequestsOfSessions(tx, { orgId, ids: ended.map(({ id }) => id), now });
  await insertLogoutDeliveries(tx, orgId, ended, now);
  return ended;
}

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

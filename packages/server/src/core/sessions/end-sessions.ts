/**
 * The one way a session ends, whoever ends it: the session itself, the refresh tokens and session keys that live by it,
 * and a message to every application that wants to hear of it (OpenID Connect Back-Channel Logout 1.0), all in one
 * transaction.
 */
import type { Db } from "../../db/open.ts";
import { insertLogoutDeliveries } from "../backchannel-logout/backchannel-logout.store.ts";
import { revokeSessionKeys } from "../session-keys/session-keys.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import { markSessionsEnded } from "./sessions.store.ts";

export interface SessionEnd {
  readonly orgId: string;
  readonly userId: string;
  /** One session of the user; without it all of them, and every refresh token and session key of the user. */
  readonly sessionId?: string;
  /** Kept with the refresh tokens and session keys that end. */
  readonly reason:
    | "signed_out"
    | "signed_out_everywhere"
    | "user_disabled"
    | "user_deleted"
    | "password_changed";
  readonly now: number;
}

/**
 * With one session, what was granted with `offline_access` is for the time when the user is not there, and stays; so do
 * permanent session keys.
 * @returns how many sessions were living
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
  await insertLogoutDeliveries(
    tx,
    orgId,
    ended.map((id) => ({ id, userId })),
    now,
  );
  return ended.length;
}

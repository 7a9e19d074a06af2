/**
 * Ends sessions, in every case: the session, its refresh tokens and session keys, and a logout token to each application
 * that receives them (OpenID Connect Back-Channel Logout 1.0), in one transaction.
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
  /** Stored with the revoked refresh tokens and session keys. */
  readonly reason:
    | "signed_out"
    | "signed_out_everywhere"
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

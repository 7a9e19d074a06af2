/** Ends what users wait for at an organisation's agents, when they may sign in no more, or not on that machine. */
import { sha256Base64url } from "@signet/protocol/hash";
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { lockedInOrder } from "../../db/row-locks.ts";

/** Whatever an agent signs for them after this is refused. */
export async function endRequestsOfUser(
  tx: Db,
  { orgId, userId, now }: { readonly orgId: string; readonly userId: string; readonly now: number },
): Promise<void> {
  await expireOpen(tx, { orgId, now }).where("user_id", "=", userId).execute();
}

/** Of the session, not of its cookie: every sign-in replaces the cookie. */
export const browserSessionHash = (sessionId: string): string => sha256Base64url(`session|${sessionId}`);

const MAX_IDS = 500;

/** The same, of what browsers wait for in these sessions. */
export async function endRequestsOfSessions(
  tx: Db,
  { orgId, ids, now }: { readonly orgId: string; readonly ids: readonly string[]; readonly now: number },
): Promise<void> {
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const hashes = ids.slice(at, at + MAX_IDS).map(browserSessionHash);
    const open = tx
      .selectFrom("signing_request")
      .select("id")
      .where("org_id", "=", orgId)
      .where("browser_session_hash", "in", hashes)
      .where(isOpen);
    await expireOpen(tx, { orgId, now })
      .where("id", "in", lockedInOrder(tx, open, "id"))
      .execute();
  }
}

// Spelled as in the partial index.
const isOpen = sql<boolean>`ended_at is null and state <> 'signed'`;

const expireOpen = (tx: Db, { orgId, now }: { readonly orgId: string; readonly now: number }) =>
  tx
    .updateTable("signing_request")
    .set({
      ...{ state: "expired", seq: sql<number>`seq + 1`, ended_at: now },
      ...{ claims: null, rendering: null, challenge: null, challenge_until: null, answer: null },
      ...{ lease_token_hash: null, lease_until: null, join_key_hash: null, waiter: null, waiter_until: null },
      continuation: null,
    })
    .where("org_id", "=", orgId)
    .where(isOpen);

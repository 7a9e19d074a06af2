/** Ends what a user waits for at an organisation's agents, when the user may sign in no more. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

/** Whatever an agent signs for them after this is refused. */
export async function endRequestsOfUser(
  tx: Db,
  { orgId, userId, now }: { readonly orgId: string; readonly userId: string; readonly now: number },
): Promise<void> {
  await tx
    .updateTable("signing_request")
    .set({
      ...{ state: "expired", seq: sql<number>`seq + 1`, ended_at: now },
      ...{ claims: null, rendering: null, challenge: null, challenge_until: null, answer: null },
      ...{ lease_token_hash: null, lease_until: null, join_key_hash: null, waiter: null, waiter_until: null },
      continuation: null,
    })
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    // Spelled as in the partial index.
    .where(sql<boolean>`ended_at is null and state <> 'signed'`)
    .execute();
}

import type { Db } from "../../../db/open.ts";
import { updateSearchKey } from "../members/members.store.ts";

/**
 * Sets a verified email address, if the current one is still `from`.
 * @returns false when the account has changed, or the new address is taken
 */
export async function changeEmail(
  db: Db,
  change: { orgId: string; id: string; from: string; to: string; toKey: string },
  now: number,
): Promise<boolean> {
  const { orgId, id, from, to, toKey } = change;
  const result = await db
    .updateTable("user_account")
    .set({ email: to, email_key: toKey, email_verified_at: now, updated_at: now })
    .where((eb) => eb.and({ org_id: orgId, id, email: from }))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("user_account as other")
            .select("other.id")
            .where((eb) => eb.and({ "other.org_id": orgId, "other.email_key": toKey }))
            .where("other.id", "<>", id),
        ),
      ),
    )
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  await updateSearchKey(db, { homeOrgId: orgId, id });
  return true;
}

/** @param username as `usernameKey` gives it */
export async function isUsernameTaken(db: Db, orgId: string, username: string): Promise<boolean> {
  const row = await db
    .selectFrom("user_account")
    .select("id")
    .where((eb) => eb.and({ org_id: orgId, username }))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Sets the username, or removes it with null; of concurrent users, one gets it.
 * @returns false when there is no such user, or the name is taken
 */
export async function setUsername(
  db: Db,
  key: { orgId: string; id: string },
  username: string | null,
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("user_account")
    .set({ username, updated_at: now })
    .where((eb) => eb.and({ org_id: key.orgId, id: key.id }))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("user_account as other")
            .select("other.id")
            .where("other.org_id", "=", key.orgId)
            .where("other.username", "=", username)
            .where("other.id", "<>", key.id),
        ),
      ),
    )
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  await updateSearchKey(db, { homeOrgId: key.orgId, id: key.id });
  return true;
}

import type { Db } from "../../../db/open.ts";
import { updateSearchKey } from "../members/members.store.ts";
import type { User } from "../user.ts";

/** Of accounts of the home organisation. @returns false when it has no such user */
export async function setProfile(
  db: Db,
  key: { orgId: string; id: string },
  { firstname, surname, phone, locale }: Pick<User, "firstname" | "surname" | "phone" | "locale">,
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("user_account")
    .set({ firstname, surname, phone, locale, updated_at: now })
    .where((eb) => eb.and({ org_id: key.orgId, id: key.id }))
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  await updateSearchKey(db, { homeOrgId: key.orgId, id: key.id });
  return true;
}

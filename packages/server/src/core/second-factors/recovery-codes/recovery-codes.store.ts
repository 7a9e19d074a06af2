/** Stores hashes of recovery codes. */
import type { Db } from "../../../db/open.ts";
import type { FactorOwner } from "../second-factor.ts";

export async function replaceRecoveryCodes(
  db: Db,
  owner: FactorOwner,
  hashes: readonly string[],
  now: number,
): Promise<void> {
  await deleteRecoveryCodes(db, owner);
  await db
    .insertInto("recovery_code")
    .values(
      hashes.map((hash) => ({
        org_id: owner.homeOrgId,
        user_id: owner.userId,
        code_hash: hash,
        created_at: now,
        used_at: null,
      })),
    )
    .execute();
}

/** Consumes a code. @returns false if it is unknown or was used before */
export async function consumeRecoveryCode(
  db: Db,
  owner: FactorOwner,
  use: { hash: string; now: number },
): Promise<boolean> {
  const result = await db
    .updateTable("recovery_code")
    .set({ used_at: use.now })
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId, code_hash: use.hash }))
    .where("used_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteRecoveryCodes(db: Db, owner: FactorOwner): Promise<void> {
  await db
    .deleteFrom("recovery_code")
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId }))
    .execute();
}

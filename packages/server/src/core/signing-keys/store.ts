import type { Db } from "../../db/open.ts";
import type { SigningKeyTable } from "../../db/schema.ts";

export type SigningKeyRow = SigningKeyTable;

/** The organisation's keys that the JWKS still shows, oldest first. */
export async function findSigningKeys(db: Db, orgId: string, now: number): Promise<SigningKeyRow[]> {
  return db
    .selectFrom("signing_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where((eb) => eb.or([eb("retire_at", "is", null), eb("retire_at", ">", now)]))
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
}

/** @returns false when the algorithm has a newest key already: another node was faster */
export async function insertSigningKey(db: Db, row: SigningKeyRow): Promise<boolean> {
  const inserted = await db
    .insertInto("signing_key")
    .values(row)
    .onConflict((conflict) => conflict.columns(["org_id", "alg"]).where("retire_at", "is", null).doNothing())
    .returning("kid")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** The key leaves the JWKS at that time, or earlier when that was decided before. */
export async function setRetirement(db: Db, key: { orgId: string; kid: string }, retireAt: number): Promise<void> {
  await db
    .updateTable("signing_key")
    .set({ retire_at: retireAt })
    .where("org_id", "=", key.orgId)
    .where("kid", "=", key.kid)
    .where((eb) => eb.or([eb("retire_at", "is", null), eb("retire_at", ">", retireAt)]))
    .execute();
}

/** @returns how many were removed, at most `limit` */
export async function deleteRetiredKeys(db: Db, before: number, limit: number): Promise<number> {
  const retired = await db
    .selectFrom("signing_key")
    .select(["org_id", "kid"])
    .where("retire_at", "<", before)
    .limit(limit)
    .execute();
  for (const { org_id, kid } of retired) {
    await db.deleteFrom("signing_key").where("org_id", "=", org_id).where("kid", "=", kid).execute();
  }
  return retired.length;
}

/** Applications of other organisations that an organisation has enabled. */
import type { Db } from "../../db/open.ts";

/** Ids, oldest first; bounded by what an organisation may enable. */
export async function listEnabledIds(db: Db, orgId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("application")
    .select("id")
    .where("org_id", "=", orgId)
    .where("home_org_id", "is not", null)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

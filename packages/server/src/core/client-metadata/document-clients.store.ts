/** Rows of clients that are known by a metadata document. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

export async function countDocumentClients(db: Db, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom("application")
    .select((eb) => eb.fn.countAll().as("count"))
    .where((eb) => allOf(eb, { org_id: orgId, source: "metadata-document" }))
    .executeTakeFirstOrThrow();
  return Number(count);
}

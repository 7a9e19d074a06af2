/** When an organisation was last changed: the record itself does not say it. */
import type { Db } from "../../../db/open.ts";

/** @returns milliseconds; undefined when it never was, or the audit log no longer tells */
export async function findOrganisationChange(db: Db, orgId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("audit_event")
    .select("at")
    .where("org_id", "=", orgId)
    .where("target", "=", orgId)
    // As in the index.
    .where("is_change", "=", 1)
    .orderBy("at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

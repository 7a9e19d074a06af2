/** Stores the names that a configuration file gives to its records. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

/** By application. */
export async function listExternalKeys(db: Db, orgId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("application_external_key")
    .select(["application_id", "external_key"])
    .where("org_id", "=", orgId)
    .execute();
  return new Map(rows.map((row) => [row.application_id, row.external_key]));
}

export async function removeExternalKey(
  db: Db,
  key: { orgId: string; applicationId: string },
): Promise<void> {
  await db
    .deleteFrom("application_external_key")
    .where((eb) => allOf(eb, { org_id: key.orgId, application_id: key.applicationId }))
    .execute();
}

/** The application must not have one, and no other application this one. */
export async function insertExternalKey(
  db: Db,
  key: { orgId: string; applicationId: string; externalKey: string },
): Promise<void> {
  await db
    .insertInto("application_external_key")
    .values({ org_id: key.orgId, application_id: key.applicationId, external_key: key.externalKey })
    .execute();
}

/** The roles that every organisation has from its beginning: given by a user's `role`, never by an assignment. */
import type { Db } from "../../db/open.ts";

export const builtInRoles = ["Administrator", "Standard"] as const;

export async function insertBuiltInRoles(
  db: Db,
  { id: orgId, createdAt }: { readonly id: string; readonly createdAt: number },
): Promise<void> {
  const rows = builtInRoles.map((key, at) => ({
    org_id: orgId,
    // As in the migration: the organisation's id, and a last part of the role's own.
    id: `${orgId.slice(0, 24)}00000000000${at + 1}`,
    application_id: null,
    key,
    name: key,
    description: null,
    permissions: "[]",
    built_in: 1,
    created_at: createdAt,
    updated_at: createdAt,
    version: 1,
  }));
  // A backup brings its own.
  await db
    .insertInto("role")
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { CustomScopeTable } from "../../db/tables/consents.ts";
import type { CustomScope, ScopeClaim } from "./custom-scope.ts";

/** @returns false when the organisation already has a scope with this name */
export async function insertCustomScope(db: Db, scope: CustomScope): Promise<boolean> {
  const inserted = await db
    .insertInto("custom_scope")
    .values({
      org_id: scope.orgId,
      id: scope.id,
      name: scope.name,
      display_name: scope.displayName,
      description: scope.description,
      claims: JSON.stringify(scope.claims),
      sensitive: scope.sensitive ? 1 : 0,
      created_at: scope.createdAt,
      updated_at: scope.updatedAt,
      version: scope.version,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "name"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** Replaces everything but id, name and creation time. @returns false when the scope is gone or has changed */
export async function replaceCustomScope(db: Db, scope: CustomScope): Promise<boolean> {
  const result = await db
    .updateTable("custom_scope")
    .set({
      display_name: scope.displayName,
      description: scope.description,
      claims: JSON.stringify(scope.claims),
      sensitive: scope.sensitive ? 1 : 0,
      updated_at: scope.updatedAt,
      version: scope.version,
    })
    .where("org_id", "=", scope.orgId)
    .where("id", "=", scope.id)
    .where("version", "=", scope.version - 1)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** @returns false when there is none of this version */
export async function deleteCustomScopeRow(
  db: Db,
  { orgId, id, version }: { orgId: string; id: string; version: number },
): Promise<boolean> {
  const result = await db
    .deleteFrom("custom_scope")
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

export async function findCustomScope(db: Db, orgId: string, id: string): Promise<CustomScope | undefined> {
  const row = await db
    .selectFrom("custom_scope")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks the scope until the end of the transaction. */
export async function lockCustomScope(
  tx: Db,
  { orgId, id }: Pick<CustomScope, "orgId" | "id">,
): Promise<void> {
  await tx
    .updateTable("custom_scope")
    .set((eb) => ({ version: eb.ref("version") }))
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}

const selectAllOf = prepared((db, value: Parameter<{ orgId: string }>) =>
  db.selectFrom("custom_scope").selectAll().where("org_id", "=", value("orgId")).orderBy("id"),
);

/** All scopes of the organisation, oldest first; at most a hundred. */
export async function listCustomScopes(db: Db, orgId: string): Promise<CustomScope[]> {
  return (await selectAllOf(db, { orgId })).map(fromRow);
}

function fromRow(row: CustomScopeTable): CustomScope {
  return {
    orgId: row.org_id,
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    claims: JSON.parse(row.claims) as ScopeClaim[],
    sensitive: row.sensitive === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

/** Stores custom scopes. */
import { sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { CustomScopeTable } from "../../db/tables/consents.ts";
import type { CustomScope, ScopeClaim } from "./custom-scope.ts";

const toScopeRow = ({ claims, sensitive, ...members }: CustomScope): CustomScopeTable => ({
  ...toRow(members),
  claims: JSON.stringify(claims),
  sensitive: sensitive ? 1 : 0,
});

/** @returns false when the organisation already has a scope with this name */
export const insertCustomScope = (db: Db, scope: CustomScope): Promise<boolean> =>
  hasRow(
    db
      .insertInto("custom_scope")
      .values(toScopeRow(scope))
      .onConflict((conflict) => conflict.columns(["org_id", "name"]).doNothing())
      .returning("id"),
  );

/** Replaces everything but id, name and creation time. @returns false when the scope is gone or has changed */
export function replaceCustomScope(db: Db, scope: CustomScope): Promise<boolean> {
  const { org_id, id, name: _name, created_at: _createdAt, ...changed } = toScopeRow(scope);
  const version = scope.version - 1;
  return affectsAny(
    db
      .updateTable("custom_scope")
      .set(changed)
      .where((eb) => allOf(eb, { org_id, id, version })),
  );
}

/** @returns false when there is none of this version */
export const deleteCustomScopeRow = (
  db: Db,
  { orgId, id, version }: Pick<CustomScope, "orgId" | "id" | "version">,
): Promise<boolean> =>
  affectsAny(db.deleteFrom("custom_scope").where((eb) => allOf(eb, { org_id: orgId, id, version })));

export async function findCustomScope(db: Db, orgId: string, id: string): Promise<CustomScope | undefined> {
  const row = await db
    .selectFrom("custom_scope")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
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
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** Locks the scopes with these names until the end of the transaction. @returns the names that there are */
export async function lockScopesByName(
  tx: Db,
  orgId: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const wanted = tx.selectFrom("custom_scope").select("id").where("org_id", "=", orgId);
  const rows = await tx
    .updateTable("custom_scope")
    .set((eb) => ({ version: eb.ref("version") }))
    .where("org_id", "=", orgId)
    .where("id", "in", lockedInOrder(tx, wanted.where("name", "in", names), "id"))
    .returning("name")
    .execute();
  return rows.map(({ name }) => name);
}

/** Of every organisation. */
export const listScopesBeginning = async (
  db: Db,
  prefix: string,
  limit: number,
): Promise<ReadonlyArray<Pick<CustomScope, "orgId" | "name">>> =>
  db
    .selectFrom("custom_scope")
    .select(["org_id as orgId", "name"])
    .where("name", "like", `${prefix}%`)
    .orderBy("org_id")
    .orderBy("name")
    .limit(limit)
    .execute();

/** Of every organisation: those that tell a claim of one of these names. */
export async function listScopesTelling(
  db: Db,
  claims: readonly string[],
  limit: number,
): Promise<ReadonlyArray<{ readonly orgId: string; readonly name: string; readonly claim: string }>> {
  const mentioned = claims.map((claim) => sql`claims like ${`%"name":${JSON.stringify(claim)}%`}`);
  const rows = await db
    .selectFrom("custom_scope")
    .select(["org_id as orgId", "name", "claims"])
    .where(sql<boolean>`(${sql.join(mentioned, sql` or `)})`)
    .orderBy("org_id")
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.flatMap(({ orgId, name, claims: text }) =>
    (JSON.parse(text) as ScopeClaim[])
      .filter((one) => claims.includes(one.name))
      .map((one) => ({ orgId, name, claim: one.name })),
  );
}

const selectAllOf = prepared((db, value: Parameter<{ orgId: string }>) =>
  db.selectFrom("custom_scope").selectAll().where("org_id", "=", value("orgId")).orderBy("id"),
);

/** All scopes of the organisation, oldest first; at most a hundred. */
export async function listCustomScopes(db: Db, orgId: string): Promise<CustomScope[]> {
  return (await selectAllOf(db, { orgId })).map(fromRow);
}

const fromRow = ({ claims, sensitive, ...row }: CustomScopeTable): CustomScope => ({
  ...toRecord(row),
  claims: JSON.parse(claims) as ScopeClaim[],
  sensitive: sensitive === 1,
});

/** Stores protected resources, and which scopes belong to them. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { ProtectedResourceTable } from "../../db/tables/consents.ts";
import type { ProtectedResource } from "./protected-resource.ts";

type Key = Pick<ProtectedResource, "orgId" | "id">;

const fromRow = (row: ProtectedResourceTable): ProtectedResource => {
  const { accessTokenFormat, accessTokenAlg, senderConstraint, ...record } = toRecord(row);
  return {
    ...record,
    enabled: row.enabled === 1,
    accessTokenFormat: accessTokenFormat as ProtectedResource["accessTokenFormat"],
    accessTokenAlg: accessTokenAlg as ProtectedResource["accessTokenAlg"],
    senderConstraint: senderConstraint as ProtectedResource["senderConstraint"],
    agentDeniedScopes: JSON.parse(row.agent_denied_scopes) as string[],
  };
};

const rowOf = (resource: ProtectedResource): ProtectedResourceTable => ({
  ...toRow(resource),
  enabled: resource.enabled ? 1 : 0,
  agent_denied_scopes: JSON.stringify(resource.agentDeniedScopes),
});

/** @returns false when the organisation has one with this identifier */
export const insertResource = (db: Db, resource: ProtectedResource): Promise<boolean> =>
  hasRow(
    db
      .insertInto("protected_resource")
      .values(rowOf(resource))
      .onConflict((conflict) => conflict.columns(["org_id", "identifier"]).doNothing())
      .returning("id"),
  );

export async function findResource(db: Db, { orgId, id }: Key): Promise<ProtectedResource | undefined> {
  const row = await db
    .selectFrom("protected_resource")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockResource(tx: Db, { orgId, id }: Key): Promise<ProtectedResource | undefined> {
  const row = await tx
    .updateTable("protected_resource")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it, and knows that nobody else has the identifier. */
export async function replaceResource(tx: Db, resource: ProtectedResource): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(resource);
  await tx
    .updateTable("protected_resource")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deleteResourceRow = (tx: Db, { orgId, id }: Key): Promise<boolean> =>
  affectsAny(tx.deleteFrom("protected_resource").where((eb) => allOf(eb, { org_id: orgId, id })));

const selectAllOf = prepared((db, value: Parameter<{ orgId: string }>) =>
  db.selectFrom("protected_resource").selectAll().where("org_id", "=", value("orgId")).orderBy("id"),
);

/** All of the organisation, oldest first; at most a hundred. */
export const listResources = async (db: Db, orgId: string): Promise<ProtectedResource[]> =>
  (await selectAllOf(db, { orgId })).map(fromRow);

/** The scopes of these names belong to the resource, and no others. The organisation is locked. */
export async function setScopesOf(tx: Db, { orgId, id }: Key, names: readonly string[]): Promise<void> {
  const own = tx.selectFrom("custom_scope").select("id").where("org_id", "=", orgId);
  const given = names.length > 0;
  await tx
    .updateTable("custom_scope")
    .set({ resource_id: null })
    .where("org_id", "=", orgId)
    .where(
      "id",
      "in",
      lockedInOrder(
        tx,
        own.where("resource_id", "=", id).$if(given, (query) => query.where("name", "not in", names)),
        "id",
      ),
    )
    .execute();
  if (!given) return;
  await tx
    .updateTable("custom_scope")
    .set({ resource_id: id })
    .where("org_id", "=", orgId)
    .where("id", "in", lockedInOrder(tx, own.where("name", "in", names), "id"))
    .execute();
}

/** A deleted application is no resource any more. */
export async function releaseApplication(
  tx: Db,
  { orgId, applicationId }: { readonly orgId: string; readonly applicationId: string },
): Promise<boolean> {
  return affectsAny(
    tx
      .updateTable("protected_resource")
      .set((eb) => ({ application_id: null, version: eb("version", "+", 1) }))
      .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId })),
  );
}

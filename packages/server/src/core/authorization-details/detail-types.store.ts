/** Stores types of authorization details. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { AuthorizationDetailTypeTable } from "../../db/tables/consents.ts";
import type { DetailSchema, DetailType } from "./detail-type.ts";

const toTypeRow = ({ schema, enabled, ...members }: DetailType): AuthorizationDetailTypeTable => ({
  ...toRow(members),
  schema: JSON.stringify(schema),
  enabled: enabled ? 1 : 0,
});

const fromRow = ({ schema, enabled, ...row }: AuthorizationDetailTypeTable): DetailType => ({
  ...toRecord(row),
  schema: JSON.parse(schema) as DetailSchema,
  enabled: enabled === 1,
});

/** @returns false when the organisation already has this type */
export const insertDetailType = (db: Db, type: DetailType): Promise<boolean> =>
  hasRow(
    db
      .insertInto("authorization_detail_type")
      .values(toTypeRow(type))
      .onConflict((conflict) => conflict.columns(["org_id", "type"]).doNothing())
      .returning("id"),
  );

/** Replaces everything but id, type and creation time. @returns false when it is gone or has changed */
export function replaceDetailType(db: Db, type: DetailType): Promise<boolean> {
  const { org_id, id, type: _type, created_at: _createdAt, ...changed } = toTypeRow(type);
  return affectsAny(
    db
      .updateTable("authorization_detail_type")
      .set(changed)
      .where((eb) => allOf(eb, { org_id, id, version: type.version - 1 })),
  );
}

/** @returns false when there is none of this version */
export const deleteDetailTypeRow = (
  db: Db,
  { orgId, id, version }: Pick<DetailType, "orgId" | "id" | "version">,
): Promise<boolean> =>
  affectsAny(
    db.deleteFrom("authorization_detail_type").where((eb) => allOf(eb, { org_id: orgId, id, version })),
  );

export async function findDetailType(db: Db, orgId: string, id: string): Promise<DetailType | undefined> {
  const row = await db
    .selectFrom("authorization_detail_type")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks the type until the end of the transaction. */
export async function lockDetailType(tx: Db, { orgId, id }: Pick<DetailType, "orgId" | "id">): Promise<void> {
  await tx
    .updateTable("authorization_detail_type")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

const selectAllOf = prepared((db, value: Parameter<{ orgId: string }>) =>
  db.selectFrom("authorization_detail_type").selectAll().where("org_id", "=", value("orgId")).orderBy("id"),
);

/** All of the organisation, oldest first; at most a hundred. */
export async function listDetailTypes(db: Db, orgId: string): Promise<DetailType[]> {
  return (await selectAllOf(db, { orgId })).map(fromRow);
}

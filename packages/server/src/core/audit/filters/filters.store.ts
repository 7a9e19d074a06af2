/** Stores saved searches of the audit log. */
import { sql } from "kysely";
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";

export interface SavedFilter {
  readonly orgId: string;
  readonly id: string;
  readonly name: string;
  /** The query string of the page, without `?`. */
  readonly query: string;
  readonly createdAt: number;
}

/** @returns false when there are `max` already */
export async function insertFilter(
  db: Db,
  { orgId, id, name, query, createdAt }: SavedFilter,
  max: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into audit_filter (org_id, id, name, query, created_at)
    select cast(${orgId} as text), cast(${id} as text), cast(${name} as text), cast(${query} as text),
      cast(${createdAt} as bigint)
    where (select count(*) from audit_filter where org_id = ${orgId}) < ${max}`.execute(db);
  return Number(numAffectedRows ?? 0) > 0;
}

/** By name. */
export async function listFilters(db: Db, orgId: string): Promise<SavedFilter[]> {
  const rows = await db
    .selectFrom("audit_filter")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("name")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    orgId: row.org_id,
    id: row.id,
    name: row.name,
    query: row.query,
    createdAt: row.created_at,
  }));
}

/** @returns false when there is no such filter */
export const deleteFilter = (
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<boolean> =>
  affectsAny(db.deleteFrom("audit_filter").where((eb) => allOf(eb, { org_id: orgId, id })));

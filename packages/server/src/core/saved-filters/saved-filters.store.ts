/** Stores saved filters of lists. The table is older than the other lists: it is named after the audit log. */
import { sql } from "kysely";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

export interface SavedFilter {
  readonly orgId: string;
  readonly id: string;
  /** `audit-log`, `users`: each list has filters of its own. */
  readonly list: string;
  readonly name: string;
  /** The query string of the page, without `?`. */
  readonly query: string;
  readonly createdAt: number;
}

/** @returns false when the list has `max` already */
export async function insertFilter(
  db: Db,
  { orgId, id, list, name, query, createdAt }: SavedFilter,
  max: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into audit_filter (org_id, id, list, name, query, created_at)
    select cast(${orgId} as text), cast(${id} as text), cast(${list} as text), cast(${name} as text),
      cast(${query} as text), cast(${createdAt} as bigint)
    where (select count(*) from audit_filter where org_id = ${orgId} and list = ${list}) < ${max}`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0) > 0;
}

/** By name. @param list all of them, unless one is named */
export async function listFilters(db: Db, orgId: string, list?: string): Promise<SavedFilter[]> {
  const rows = await db
    .selectFrom("audit_filter")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(list !== undefined, (query) => query.where("list", "=", list ?? ""))
    .orderBy("name")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    orgId: row.org_id,
    id: row.id,
    list: row.list,
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

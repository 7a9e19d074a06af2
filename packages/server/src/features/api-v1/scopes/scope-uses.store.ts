/** Lists what uses a scope. */
import { sql } from "kysely";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { type ScopeUse, scopeUses } from "../../../core/scopes/scope-uses.store.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export const useFields: SqlFields = {
  type: { kind: "text", of: sql.ref("used.type") },
  id: { kind: "text", of: sql.ref("used.id") },
  name: { kind: "text", of: sql.ref("used.name") },
  createdAt: { kind: "time", of: sql.ref("used.createdAt"), isNeverNull: true },
};

type Listed = ScopeUse & { readonly sortValue: string | number };

export async function listScopeUses(
  db: Db,
  scope: CustomScope,
  list: ListRequest,
): Promise<ListPage<ScopeUse>> {
  const { matching, within, value, id, direction, limit } = sqlList(db, list, useFields, sql.ref("used.id"));
  const used = await scopeUses(db, scope);
  const { rows } = await sql<Listed>`${used}
    select type, id, name, ${value} as "sortValue" from used where ${matching} and ${within}
    order by ${value} ${sql.raw(direction)}, ${id} ${sql.raw(direction)} limit ${limit}`.execute(db);
  return sqlPage(list, rows, async () => {
    const counted = await sql<{ count: number | string }>`${used}
      select count(*) as count from used where ${matching}`.execute(db);
    return Number(counted.rows[0]?.count ?? 0);
  });
}

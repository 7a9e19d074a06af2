/** The list of grants: the database filters, sorts and pages. */
import { sql } from "kysely";
import { activeGrants, fromRow, grantEnd, grantLastUse } from "../../../core/tokens/grants.store.ts";
import type { IssuedGrant } from "../../../core/tokens/issued-grant.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export const issuedGrantFields: SqlFields = {
  id: { kind: "text", of: sql.ref("id") },
  clientId: { kind: "text", of: sql.ref("application_id") },
  userId: { kind: "text", of: sql.ref("user_id") },
  createdAt: { kind: "time", of: sql.ref("created_at"), isNeverNull: true },
  lastUsedAt: { kind: "time", of: grantLastUse, isNeverNull: true },
  expiresAt: { kind: "time", of: grantEnd, isNeverNull: true },
};

type Placed = IssuedGrant & { readonly sortValue: string | number };

export async function listGrantPage(
  db: Db,
  { orgId, now }: { readonly orgId: string; readonly now: number },
  list: ListRequest,
): Promise<ListPage<Placed>> {
  const sqlOf = sqlList(db, list, issuedGrantFields, sql.ref("id"));
  const matching = () => activeGrants(db, orgId, now).where(sqlOf.matching);
  const rows = await matching()
    .selectAll()
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const grants = rows.map(({ sortValue, ...row }) => ({ ...fromRow(row), sortValue }));
  return sqlPage(list, grants, () => countRows(db, matching().select("id")));
}

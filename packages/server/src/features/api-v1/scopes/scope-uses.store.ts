/** What uses a scope: applications that may request it, and consents and pre-authorizations for it that count. */
import { type RawBuilder, sql } from "kysely";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { guestRelation } from "../../../core/users/members/guests.store.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export const useTypes = ["application", "consent", "preauthorization"] as const;

export interface ScopeUse {
  readonly type: (typeof useTypes)[number];
  /** Of the application, the consent or the pre-authorization. */
  readonly id: string;
  /** Of the application; of a user's consent with the user's email address. */
  readonly name: string;
}

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
  const used = usesOf(db, scope, await guestRelation(db, scope.orgId));
  const { rows } = await sql<Listed>`${used}
    select type, id, name, ${value} as "sortValue" from used where ${matching} and ${within}
    order by ${value} ${sql.raw(direction)}, ${id} ${sql.raw(direction)} limit ${limit}`.execute(db);
  return sqlPage(list, rows, async () => {
    const counted = await sql<{ count: number | string }>`${used}
      select count(*) as count from used where ${matching}`.execute(db);
    return Number(counted.rows[0]?.count ?? 0);
  });
}

/** @param guests a guest's address is the home's, and joined as a table of values */
function usesOf(db: Db, scope: CustomScope, guests: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  const { orgId, name } = scope;
  const allowed = isPostgres(db)
    ? sql`jsonb_exists(cast(a.settings as jsonb) -> 'allowedScopes', ${name})`
    : sql`exists (select 1 from json_each(a.settings, '$.allowedScopes') where value = ${name})`;
  const email = guests ? sql`coalesce(u.email, g.email)` : sql`u.email`;
  return sql`with used as (
    select cast('application' as text) as type, a.id, a.name, a.created_at as "createdAt"
      from application a
      where a.org_id = ${orgId} and a.settings like ${containing(JSON.stringify(name))} escape '!' and ${allowed}
    union all
    select cast('consent' as text), c.id,
        a.name || coalesce(' (' || ${email} || ')', ''), c.granted_at
      from consent c join application a on a.org_id = c.org_id and a.id = c.application_id
      left join user_account u on u.org_id = c.org_id and u.id = c.user_id
      ${guests ? sql`left join ${guests} g on g.id = c.user_id` : sql``}
      where c.org_id = ${orgId} and c.revoked_at is null and ${counts("c", "granted_at", scope)}
    union all
    select cast('preauthorization' as text), p.id, a.name, p.created_at
      from preauthorization p join application a on a.org_id = p.org_id and a.id = p.application_id
      where p.org_id = ${orgId} and ${counts("p", "created_at", scope)})`;
}

/** As core/scopes/scope-definitions.ts decides it: the grant names this definition, or is older than definitions and newer than it. */
function counts(table: string, grantedAt: string, { id, name, createdAt }: CustomScope): RawBuilder<unknown> {
  const column = (member: string) => sql.ref(`${table}.${member}`);
  return sql`(' ' || ${column("scope")} || ' ') like ${containing(` ${name} `)} escape '!'
    and (${column("scope_definitions")} like ${containing(JSON.stringify(id))} escape '!'
      or (${column("scope_definitions")} is null and ${column(grantedAt)} >= ${createdAt}))`;
}

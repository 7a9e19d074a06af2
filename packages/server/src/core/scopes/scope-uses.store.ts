/** What uses a scope: applications that may request it, and consents and pre-authorizations for it that count. */
import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { containing } from "../../db/search-text.ts";
import { guestRelation } from "../users/members/guests.store.ts";
import type { CustomScope } from "./custom-scope.ts";

export const useTypes = ["application", "consent", "preauthorization"] as const;
export type UseType = (typeof useTypes)[number];

export interface ScopeUse {
  readonly type: UseType;
  /** Of the application, the consent or the pre-authorization. */
  readonly id: string;
  /** Of the application; of a user's consent with the user's email address. */
  readonly name: string;
}

/** The first of each type, and how many there are. */
export type CountedUses = Readonly<
  Record<UseType, { readonly first: readonly ScopeUse[]; readonly count: number }>
>;

/** @param limit of each type */
export async function findScopeUses(db: Db, scope: CustomScope, limit: number): Promise<CountedUses> {
  const used = await scopeUses(db, scope);
  const counted = await sql<{ type: UseType; count: number | string }>`${used}
    select type, count(*) as count from used group by type`.execute(db);
  const counts = new Map(counted.rows.map(({ type, count }) => [type, Number(count)]));
  const of = async (type: UseType) => {
    const count = counts.get(type) ?? 0;
    if (count === 0) return { first: [], count };
    const { rows } = await sql<ScopeUse>`${used}
      select type, id, name from used where type = ${type} order by name, id limit ${limit}`.execute(db);
    return { first: rows, count };
  };
  return {
    application: await of("application"),
    consent: await of("consent"),
    preauthorization: await of("preauthorization"),
  };
}

/** As the table `used` of a statement that follows: `type`, `id`, `name`, `createdAt`. */
export async function scopeUses(db: Db, scope: CustomScope): Promise<RawBuilder<unknown>> {
  const { orgId, name } = scope;
  // A guest's address is the home's, and joined as a table of values.
  const guests = await guestRelation(db, orgId);
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

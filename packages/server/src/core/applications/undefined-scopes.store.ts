/** Applications of every organisation that have scopes which nobody defined: they are older than the rule (defined-scopes.ts). */
import { sql } from "kysely";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { apiScopes } from "../scopes/api-scopes.ts";
import { standardScopes } from "../scopes/scopes.ts";

export interface UndefinedScope {
  readonly orgId: string;
  readonly applicationId: string;
  readonly scope: string;
}

export async function listUndefinedScopes(db: Db, limit: number): Promise<readonly UndefinedScope[]> {
  const each = isPostgres(db)
    ? sql`jsonb_array_elements_text(coalesce(cast(a.settings as jsonb) -> 'allowedScopes', '[]')) as each (value)`
    : sql`json_each(a.settings, '$.allowedScopes') as each`;
  const known = sql.join([...standardScopes, ...apiScopes].map((scope) => sql`${scope}`));
  const { rows } = await sql<UndefinedScope>`
    select a.org_id as "orgId", a.id as "applicationId", each.value as scope
    from application a cross join ${each}
    where each.value not in (${known})
      and not exists (select 1 from custom_scope s where s.org_id = a.org_id and s.name = each.value)
    order by a.org_id, a.id, each.value limit ${limit}`.execute(db);
  return rows;
}

/** Applications that have scopes which nobody defined: they are older than the rule (defined-scopes.ts). */
import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { apiScopes, operatorScopes } from "../scopes/api-scopes.ts";
import { signalScopes, standardScopes } from "../scopes/scopes.ts";

export interface UndefinedScope {
  readonly orgId: string;
  readonly applicationId: string;
  readonly scope: string;
}

const undefinedIn = (db: Db, of: RawBuilder<unknown>, limit: number) => {
  const each = isPostgres(db)
    ? sql`jsonb_array_elements_text(coalesce(cast(a.settings as jsonb) -> 'allowedScopes', '[]')) as each (value)`
    : sql`json_each(a.settings, '$.allowedScopes') as each`;
  const known = sql.join(
    [...standardScopes, ...signalScopes, ...apiScopes, ...operatorScopes].map((scope) => sql`${scope}`),
  );
  return sql<UndefinedScope & { readonly applicationName: string }>`
    select a.org_id as "orgId", a.id as "applicationId", a.name as "applicationName", each.value as scope
    from application a cross join ${each}
    where ${of} and each.value not in (${known})
      and not exists (select 1 from custom_scope s where s.org_id = a.org_id and s.name = each.value)
    order by a.org_id, a.id, each.value limit ${limit}`;
};

export async function listUndefinedScopes(db: Db, limit: number): Promise<readonly UndefinedScope[]> {
  return (await undefinedIn(db, sql`1 = 1`, limit).execute(db)).rows;
}

/** Of one organisation, for its console. */
export async function findUndefinedScopes(
  db: Db,
  orgId: string,
  limit: number,
): Promise<ReadonlyArray<UndefinedScope & { readonly applicationName: string }>> {
  return (await undefinedIn(db, sql`a.org_id = ${orgId}`, limit).execute(db)).rows;
}

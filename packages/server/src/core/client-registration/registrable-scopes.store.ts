/** The scopes that clients may register with: a deleted one leaves them. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

const bounded = { initial_access_token: "id", client_registration: "application_id" } as const;

/** A deleted scope leaves what clients may register with: one that is made anew is another (api-v1.md, "Resources"). */
export async function forgetRegistrationScope(tx: Db, orgId: string, scope: string): Promise<void> {
  for (const [table, key] of Object.entries(bounded) as Array<[keyof typeof bounded, string]>) {
    const { rows } = await sql<{ id: string; scopes: string }>`
      select ${sql.ref(key)} as id, allowed_scopes as scopes from ${sql.table(table)}
      where org_id = ${orgId} order by ${sql.ref(key)}`.execute(tx);
    for (const { id, scopes } of rows) {
      const had = JSON.parse(scopes) as string[];
      if (!had.includes(scope)) continue;
      const left = JSON.stringify(had.filter((one) => one !== scope));
      await sql`update ${sql.table(table)} set allowed_scopes = ${left}
        where org_id = ${orgId} and ${sql.ref(key)} = ${id}`.execute(tx);
    }
  }
}

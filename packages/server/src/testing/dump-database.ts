/** Everything that a database holds, as text: what somebody sees who has stolen it. */
import { sql } from "kysely";
import type { Db } from "../db/open.ts";

export const organisationTables = [
  "application",
  "application_origin",
  "client_secret",
  "user_account",
  "membership",
  "browser_session",
  "authorization_code",
  "token_family",
  "revoked_access_token",
  "signing_key",
  "consent",
  "rate_limit",
  "audit_event",
] as const;

/** The rows of a table, of one organisation or of all, each as JSON, in a stable order. */
export async function dumpTable(db: Db, table: string, orgId?: string): Promise<string[]> {
  const all = sql<Record<string, unknown>>`select * from ${sql.table(table)}`;
  const rows = orgId === undefined ? all : sql<Record<string, unknown>>`${all} where org_id = ${orgId}`;
  return (await rows.execute(db)).rows.map((row) => JSON.stringify(row)).sort();
}

/** Every table that there is, whatever it is for; one line for each row, with its table in front. */
export async function dumpWholeDatabase(db: Db): Promise<string> {
  const lines: string[] = [];
  for (const { name } of await db.introspection.getTables())
    for (const row of await dumpTable(db, name)) lines.push(`${name} ${row}`);
  return lines.join("\n");
}

/** One line for each row, with its table in front. */
export async function dumpDatabase(db: Db, orgId?: string): Promise<string> {
  const tables =
    orgId === undefined ? ["organisation", "background_lease", ...organisationTables] : organisationTables;
  const lines: string[] = [];
  for (const table of tables)
    for (const row of await dumpTable(db, table, orgId)) lines.push(`${table} ${row}`);
  return lines.join("\n");
}

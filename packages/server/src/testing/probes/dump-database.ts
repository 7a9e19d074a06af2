/** Dumps a whole database as text: what an attacker with a copy sees. */
import { sql } from "kysely";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";

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

/** Every table; one line per row, prefixed with the table's name. */
export async function dumpWholeDatabase(db: Db): Promise<string> {
  const lines = isPostgres(db) ? dumpPostgres(db) : dumpSqlite(db);
  return (await lines).join("\n");
}

/** Kysely's own list of tables has every column too, which takes longer than to read small tables. */
async function dumpSqlite(db: Db): Promise<string[]> {
  const listed = sql<{ name: string }>`select name from sqlite_master
    where type = 'table' and name not like 'sqlite_%' order by name`;
  const lines: string[] = [];
  for (const { name } of (await listed.execute(db)).rows)
    for (const row of await dumpTable(db, name)) lines.push(`${name} ${row}`);
  return lines;
}

/** In one statement: a round trip per table would take most of the time. */
async function dumpPostgres(db: Db): Promise<string[]> {
  const listed = sql<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = current_schema()`;
  const tables = (await listed.execute(db)).rows.map(
    ({ name }) =>
      sql`select ${sql.lit(name)} || ' ' || row_to_json(t)::text as line from ${sql.table(name)} t`,
  );
  const { rows } = await sql<{ line: string }>`${sql.join(tables, sql` union all `)} order by 1`.execute(db);
  return rows.map(({ line }) => line);
}

/** One line per row, prefixed with the table's name. */
export async function dumpDatabase(db: Db, orgId?: string): Promise<string> {
  const tables =
    orgId === undefined ? ["organisation", "background_lease", ...organisationTables] : organisationTables;
  const lines: string[] = [];
  for (const table of tables)
    for (const row of await dumpTable(db, table, orgId)) lines.push(`${table} ${row}`);
  return lines.join("\n");
}

/** Reads and writes the rows of every table, whatever they are. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { tablesOfOrganisation } from "../../db/rows-of-organisation.ts";
import type { Row } from "./backup-format.ts";

export interface BackedUpTable {
  readonly name: string;
  /** The primary key, in its order. */
  readonly key: readonly string[];
}

/** In the order in which rows may be inserted: what is referred to comes first. */
export const backedUpTables: readonly BackedUpTable[] = [
  { name: "installation_key", key: ["name"] },
  { name: "organisation", key: ["id"] },
  ...tablesOfOrganisation.toReversed().map(([name, key]) => ({ name, key: ["org_id", ...key] })),
];

/** Tables without a place in a backup: what the nodes agree on, and what the migrations write. */
export const notBackedUp = ["background_lease", "schema_migration"];

/** @param after the last row of the page before */
export async function readRows(
  db: Db,
  { name, key }: BackedUpTable,
  { after, limit }: { after: Row | undefined; limit: number },
): Promise<Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const beyond = after
    ? sql`where (${columns}) > (${sql.join(key.map((column) => sql`${after[column]}`))})`
    : sql``;
  const { rows } = await sql<Row>`
    select * from ${sql.table(name)} ${beyond} order by ${columns} limit ${limit}`.execute(db);
  return rows;
}

/** @param rows with the same columns */
export async function insertRows(tx: Db, name: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => sql`${row[column] ?? null}`))})`);
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)}`.execute(tx);
}

/** Whether there is an organisation, or anything that came with one. */
export async function hasRows(db: Db): Promise<boolean> {
  for (const { name } of backedUpTables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) return true;
  }
  return false;
}

/** The applied migrations, oldest first. */
export async function appliedMigrations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from schema_migration order by applied_at, name`.execute(db);
  return rows.map(({ name }) => name);
}

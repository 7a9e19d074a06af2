/** Deletes expired rows in batches, row by row, so that no other statement waits long. */
import { sql } from "kysely";
import type { Db } from "./open.ts";
import type { Schema } from "./schema.ts";

type Column<Table extends keyof Schema> = keyof Schema[Table] & string;

export interface Expiring<Table extends keyof Schema> {
  readonly table: Table;
  /** The primary key. */
  readonly key: ReadonlyArray<Column<Table>>;
  /** The expiry, milliseconds. */
  readonly column: Column<Table>;
}

/** @returns how many were deleted, at most `limit`, the oldest first */
export async function deleteExpired<Table extends keyof Schema>(
  db: Db,
  { table, key, column }: Expiring<Table>,
  before: number,
  limit: number,
): Promise<number> {
  const from = sql.table(table);
  const isExpired = sql`${sql.ref(column)} < ${before}`;
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  const { rows } = await sql<Readonly<Record<string, unknown>>>`
    select ${keyColumns} from ${from} where ${isExpired} order by ${sql.ref(column)} limit ${limit}`.execute(
    db,
  );
  for (const row of rows) {
    const isRow = sql.join(
      key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    );
    // Checked again: the row may have been renewed since.
    await sql`delete from ${from} where ${isRow} and ${isExpired}`.execute(db);
  }
  return rows.length;
}

/** Deleting rows whose time has passed, a batch at a time and row by row, so that no other statement waits long. */
import { sql } from "kysely";
import type { Db } from "./open.ts";
import type { Schema } from "./schema.ts";

type Column<Table extends keyof Schema> = keyof Schema[Table] & string;

export interface Expiring<Table extends keyof Schema> {
  readonly table: Table;
  /** The primary key. */
  readonly key: ReadonlyArray<Column<Table>>;
  /** The time that counts, milliseconds. */
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
  const hasPassed = sql`${sql.ref(column)} < ${before}`;
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  const { rows } = await sql<Readonly<Record<string, unknown>>>`
    select ${keyColumns} from ${from} where ${hasPassed} order by ${sql.ref(column)} limit ${limit}`.execute(
    db,
  );
  for (const row of rows) {
    const isRow = sql.join(
      key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    );
    // Asked again: a row may have been renewed since.
    await sql`delete from ${from} where ${isRow} and ${hasPassed}`.execute(db);
  }
  return rows.length;
}

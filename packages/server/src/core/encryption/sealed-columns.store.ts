/** Reads and replaces sealed values, page by page in the order of the primary key, whatever the table. */
import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { RowKey, SealedColumn } from "./sealed-columns.ts";

export interface SealedValue {
  readonly key: RowKey;
  readonly sealed: string;
}

const primaryKey = ({ key, more = 0 }: SealedColumn): readonly string[] => key.slice(0, key.length - more);

const refs = (names: readonly string[]): RawBuilder<unknown> => sql.join(names.map((name) => sql.ref(name)));

/** @param after the last key of the page before */
export async function listSealedValues(
  db: Db,
  column: SealedColumn,
  { after, limit }: { after: RowKey | undefined; limit: number },
): Promise<SealedValue[]> {
  const primary = primaryKey(column);
  const beyond = after
    ? sql`and (${refs(primary)}) > (${sql.join(primary.map((name) => sql`${after[name]}`))})`
    : sql``;
  const value = sql.ref(column.column);
  const { rows } = await sql<Record<string, string | number>>`
    select ${refs(column.key)}, ${value} as "sealed value" from ${sql.table(column.table)}
    where ${value} is not null ${beyond} order by ${refs(primary)} limit ${limit}`.execute(db);
  return rows.map(({ "sealed value": sealed, ...key }) => ({ key, sealed: String(sealed) }));
}

/** @returns false when the value was replaced or deleted meanwhile: whoever did it knew better */
export async function replaceSealedValue(
  db: Db,
  column: SealedColumn,
  { key, sealed }: SealedValue,
  renewed: string,
): Promise<boolean> {
  const value = sql.ref(column.column);
  const isRow = primaryKey(column).map((name) => sql`${sql.ref(name)} = ${key[name]}`);
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(column.table)} set ${value} = ${renewed}
    where ${sql.join([...isRow, sql`${value} = ${sealed}`], sql` and `)}`.execute(db);
  return numAffectedRows > 0n;
}

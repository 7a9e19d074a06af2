/**
 * The columns that are sealed under the master keys, as each feature declares its own: for `signet master-key rotate`, and for
 * the test that nothing sealed is forgotten.
 */
import type { Schema } from "../../db/schema.ts";
import type { Encryption } from "./encryption.ts";

/** The primary key of a row, as it is stored. */
export type RowKey = Readonly<Record<string, string | number>>;

export interface SealedColumn<Table extends keyof Schema = keyof Schema> {
  readonly table: Table;
  readonly column: keyof Schema[Table] & string;
  /** The primary key's columns, in its order, and after them what else the row's name is made of. */
  readonly key: ReadonlyArray<keyof Schema[Table] & string>;
  /** Those of `key` that are not in the primary key. */
  readonly more?: number;
  /** As it was sealed for. */
  rowName(row: RowKey): string;
}

/** Columns with the encryption that sealed them. */
export interface SealedColumns {
  readonly encryption: Encryption;
  readonly columns: readonly SealedColumn[];
}

export const sealedColumn = <Table extends keyof Schema>(column: SealedColumn<Table>): SealedColumn =>
  column as unknown as SealedColumn;

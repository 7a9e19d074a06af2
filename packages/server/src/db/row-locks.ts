/** Locks several rows in one order, so that two statements that change the same ones never deadlock. */
import type { SelectQueryBuilder } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Db } from "./open.ts";
import type { Schema } from "./schema.ts";

/**
 * For `where key in (…)` of an update or a delete that may change several rows. PostgreSQL locks rows in the order in which a
 * plan finds them, and two statements may have two plans; below the lock they are sorted. SQLite runs one writer at a time.
 *
 * @param rows selects the key alone. Repeat its conditions in the statement: a row may have changed before it was locked
 */
export function lockedInOrder<Table extends keyof Schema, Row extends object>(
  db: Db,
  rows: SelectQueryBuilder<Schema, Table, Row>,
  key: keyof Row & keyof Schema[Table] & string,
): SelectQueryBuilder<Schema, Table, Row> {
  return isPostgres(db) ? rows.orderBy(key as never).forUpdate() : rows;
}

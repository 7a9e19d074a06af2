/** A value among many: databases limit the parameters of a statement. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Db } from "./open.ts";

/** @param values however many, in one parameter */
export function oneOf(db: Db, value: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`1 = 0`;
  return isInList(db, value, JSON.stringify(values));
}

/** The same in a prepared statement. @param json a list of texts */
export function isInList(db: Db, value: RawBuilder<unknown>, json: string): RawBuilder<SqlBool> {
  return isPostgres(db)
    ? sql<SqlBool>`${value} in (select json_array_elements_text(cast(${json} as json)))`
    : sql<SqlBool>`${value} in (select value from json_each(${json}))`;
}

/** Conditions of statements. */
import type { Expression, ExpressionBuilder, FilterObject, SqlBool } from "kysely";

/**
 * Every named column has its value. Kysely's own `eb.and({…})` leaves out a column whose value is undefined: without its
 * organisation a statement would reach every other one's rows.
 *
 * @throws TypeError when a value is undefined
 */
export function allOf<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  values: FilterObject<DB, TB>,
): Expression<SqlBool> {
  for (const [column, value] of Object.entries(values))
    if (value === undefined) throw new TypeError(`no value for ${column}`);
  return eb.and(values);
}

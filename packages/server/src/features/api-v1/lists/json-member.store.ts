/** A member of a JSON column, as lists filter and sort by it. */
import { type RawBuilder, type SqlBool, sql } from "kysely";

/** Text; null when the column, or its member, is. */
export const jsonText = (
  isOnPostgres: boolean,
  column: RawBuilder<unknown>,
  member: string,
): RawBuilder<string | null> =>
  isOnPostgres
    ? sql<string | null>`(cast(${column} as jsonb) ->> ${sql.lit(member)})`
    : sql<string | null>`json_extract(${column}, ${sql.lit(`$."${member}"`)})`;

export const jsonNumber = (
  isOnPostgres: boolean,
  column: RawBuilder<unknown>,
  member: string,
): RawBuilder<number | null> =>
  isOnPostgres
    ? sql<number | null>`cast(${jsonText(true, column, member)} as double precision)`
    : sql<number | null>`${jsonText(false, column, member)}`;

/** @param member.absent what it counts as where it is not stored */
export function jsonBoolean(
  isOnPostgres: boolean,
  column: RawBuilder<unknown>,
  { name, absent }: { readonly name: string; readonly absent: boolean },
): RawBuilder<SqlBool> {
  const text = jsonText(isOnPostgres, column, name);
  return isOnPostgres
    ? sql<SqlBool>`(coalesce(${text}, ${sql.lit(String(absent))}) = 'true')`
    : sql<SqlBool>`(coalesce(${text}, ${sql.lit(Number(absent))}) = 1)`;
}

/** A member of a JSON column, as lists filter and sort by it. */
import { type RawBuilder, sql } from "kysely";

/** Text; null when the column, or its member, is. */
export const jsonText = (
  isOnPostgres: boolean,
  column: RawBuilder<unknown>,
  member: string,
): RawBuilder<string | null> =>
  isOnPostgres
    ? sql<string | null>`(cast(${column} as jsonb) ->> ${sql.lit(member)})`
    : sql<string | null>`json_extract(${column}, ${sql.lit(`$."${member}"`)})`;

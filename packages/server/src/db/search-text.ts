/** Substring search with LIKE; wildcards in the input are escaped. */
import { type RawBuilder, sql } from "kysely";

/** For `like … escape '!'`. */
export const containing = (part: string): string => `%${part.replaceAll(/[!%_]/g, "!$&")}%`;

/**
 * Whether a record's name or id contains the text; on SQLite, non-ASCII letters are case-sensitive.
 * @param table with the columns and `id`, as named in the query
 */
export function isNamed(
  table: string,
  text: string,
  columns: readonly string[] = ["name"],
): RawBuilder<boolean> {
  const [exact, lower] = [containing(text), containing(text.toLowerCase())];
  const contains = columns.map((column) => {
    const name = sql.ref(`${table}.${column}`);
    return sql`${name} like ${exact} escape '!' or lower(${name}) like ${lower} escape '!'`;
  });
  return sql<boolean>`(${sql.join(contains, sql` or `)} or ${sql.ref(`${table}.id`)} like ${lower} escape '!')`;
}

/** What a record is called: the first of the columns that has something in it, else its id. */
export const nameIn = (table: string, columns: readonly string[]): RawBuilder<string> =>
  sql<string>`coalesce(${sql.join(
    columns.map((column) => sql`nullif(${sql.ref(`${table}.${column}`)}, '')`),
  )}, ${sql.ref(`${table}.id`)})`;

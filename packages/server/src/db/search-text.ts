/** Substring search with LIKE; wildcards in the input are escaped. */
import { type RawBuilder, sql } from "kysely";

/** For `like … escape '!'`. */
export const containing = (part: string): string => `%${part.replaceAll(/[!%_]/g, "!$&")}%`;

/**
 * Whether a record's name or id contains the text; on SQLite, non-ASCII letters are case-sensitive.
 * @param table with the columns `name`, or another one, and `id`, as named in the query
 */
export function isNamed(table: string, text: string, column = "name"): RawBuilder<boolean> {
  const [name, id] = [sql.ref(`${table}.${column}`), sql.ref(`${table}.id`)];
  const [exact, lower] = [containing(text), containing(text.toLowerCase())];
  return sql<boolean>`(${name} like ${exact} escape '!' or lower(${name}) like ${lower} escape '!' or ${id} like ${lower} escape '!')`;
}

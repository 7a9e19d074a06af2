/** Searching for a part of a text: none of the letters that mean something in a pattern means anything in what is typed. */
import { type RawBuilder, sql } from "kysely";

/** For `like … escape '!'`. */
export const containing = (part: string): string => `%${part.replaceAll(/[!%_]/g, "!$&")}%`;

/**
 * Whether a record's name or id has the text in it; letters beyond ASCII are compared in their case on SQLite.
 * @param table with the columns `name` and `id`, as the query calls it
 */
export function isNamed(table: string, text: string): RawBuilder<boolean> {
  const [name, id] = [sql.ref(`${table}.name`), sql.ref(`${table}.id`)];
  const [typed, lower] = [containing(text), containing(text.toLowerCase())];
  return sql<boolean>`(${name} like ${typed} escape '!' or lower(${name}) like ${lower} escape '!' or ${id} like ${lower} escape '!')`;
}

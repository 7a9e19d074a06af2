/** A list of objects as rows, so that one statement, prepared once, is for however many of them. */
import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Db } from "./open.ts";

/** @param json a list of objects whose members are texts. @returns what stands in a `from`, with a column for each member */
export function jsonRows<Name extends string>(
  db: Db,
  json: string,
  names: readonly Name[],
): RawBuilder<Record<Name, string>> {
  const list = sql.join(
    names.map((name) =>
      isPostgres(db)
        ? sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`
        : sql`value ->> ${sql.lit(`$.${name}`)} as ${sql.ref(name)}`,
    ),
  );
  return isPostgres(db)
    ? sql`(select ${list} from jsonb_array_elements(cast(${json} as jsonb)) as each (value))`
    : sql`(select ${list} from json_each(${json}))`;
}

import { sql } from "kysely";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";

/** As autovacuum does, which a PostgreSQL of tests is without: else what refers to a table that was empty is looked for in all of it. */
export async function countRows(db: Db): Promise<void> {
  if (isPostgres(db)) await sql`analyze`.execute(db);
}

/** Whether the database may be distributed over several nodes: some statements are written another way then. */
import { sql } from "kysely";
import { isPostgres } from "../is-postgres.ts";
import type { Db } from "../open.ts";

/** Asked once of each database: Citus is there before its servers start. */
const answers = new WeakMap<Db, boolean>();

export async function hasCitus(db: Db): Promise<boolean> {
  const known = answers.get(db);
  if (known !== undefined) return known;
  const isThere = isPostgres(db) && (await hasItsFunction(db));
  answers.set(db, isThere);
  return isThere;
}

async function hasItsFunction(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_proc where proname = 'create_distributed_table'`.execute(db);
  return rows.length > 0;
}

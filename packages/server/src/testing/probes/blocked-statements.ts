/** For tests of who waits for whom. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

/**
 * Whether a statement of this database waits for a lock: PostgreSQL alone can say so. In other databases of the server other
 * tests are at work, whose locks mean nothing here (`pg_locks` has them too, most without saying of which database they are).
 */
export async function isSomebodyBlocked(db: Db): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return (await waiting.execute(db)).rows.length > 0;
}

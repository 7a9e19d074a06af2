/** For tests of lock order. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";

/**
 * Whether a statement of this database waits for a lock (PostgreSQL only). Other tests use other databases of the same
 * server, and most rows of `pg_locks` don't name their database.
 */
export async function isStatementBlocked(db: Db): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  // Usually asked in the middle of the transaction that is waited for.
  return (await asAnotherRequest(() => waiting.execute(db))).rows.length > 0;
}

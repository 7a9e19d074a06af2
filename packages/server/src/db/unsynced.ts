/**
 * Writes whose loss in a crash nobody would notice, because whoever waits for them is gone with the process: they are
 * committed, and on disk with the next write that is synced, which nothing that was built on them can overtake.
 */
import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Db } from "./open.ts";
import { UNSYNCED_MARK } from "./sqlite/unsynced-mark.ts";

/**
 * A condition that is always true, for the `where` of one statement on its own: in a transaction it would hold for the whole
 * of it.
 */
export const unsynced = (db: Db): RawBuilder<boolean> =>
  isPostgres(db)
    ? // Until the end of the statement's own transaction; it is read at the commit.
      sql<boolean>`(select set_config('synchronous_commit', 'off', true)) is not null`
    : sql<boolean>`${sql.raw(UNSYNCED_MARK)} 1 = 1`;

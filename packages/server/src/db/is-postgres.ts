/** Which database a connection speaks to. */
import { PostgresAdapter } from "kysely";
import type { Db } from "./open.ts";

/** For statements that differ on PostgreSQL, e.g. locks: SQLite serialises writing transactions. */
export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

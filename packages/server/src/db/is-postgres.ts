import { PostgresAdapter } from "kysely";
import type { Db } from "./open.ts";

/** For what one statement says to PostgreSQL alone: SQLite's transactions that write come one after the other. */
export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

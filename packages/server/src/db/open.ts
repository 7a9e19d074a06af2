/** The one door to storage: an embedded SQLite file, or PostgreSQL, behind the same typed queries. */
import type { DatabaseSync } from "node:sqlite";
import { type Dialect, Kysely, sql } from "kysely";
import type pg from "pg";
import { openPostgresPool, postgresDialect } from "./postgres/postgres.ts";
import type { Schema } from "./schema.ts";
import { nodeSqliteDialect, openSqliteFile } from "./sqlite/node-sqlite.ts";

/** A connection or a transaction: stores take either. */
export type Db = Kysely<Schema>;

interface Opened {
  readonly query: Db;
  /** All or nothing. On SQLite the write lock is taken at once. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type Database = Opened &
  (
    | { readonly kind: "sqlite"; readonly file: DatabaseSync }
    | { readonly kind: "postgres"; readonly pool: pg.Pool; readonly url: string }
  );

/**
 * @param url `sqlite:<path>` or `postgres://…`
 * @param poolSize most PostgreSQL connections of this process; without meaning for SQLite
 * @param around for tests, which look at every statement
 */
export function openDatabase(
  url: string,
  poolSize = 10,
  around: (dialect: Dialect) => Dialect = (dialect) => dialect,
): Database {
  const through = (dialect: Dialect) => opened(new Kysely<Schema>({ dialect: around(dialect) }));
  if (url.startsWith("sqlite:")) {
    const file = openSqliteFile(url.slice("sqlite:".length));
    return { kind: "sqlite", file, ...through(nodeSqliteDialect(file)) };
  }
  const pool = openPostgresPool({ url, poolSize });
  return { kind: "postgres", pool, url, ...through(postgresDialect(pool)) };
}

/** The same database from inside a transaction: whatever asks for one of its own joins it. */
export const boundTo = (database: Database, tx: Db): Database => ({
  ...database,
  query: tx,
  transaction: (work) => work(tx),
});

/** One PostgreSQL connection whose statements may take as long as they need, for migrations. */
export function openPatient(url: string): Pick<Opened, "transaction" | "close"> {
  const pool = openPostgresPool({ url, poolSize: 1, isPatient: true });
  return opened(new Kysely<Schema>({ dialect: postgresDialect(pool) }));
}

function opened(query: Db): Opened {
  return {
    query,
    transaction: (work) => query.transaction().execute(work),
    ping: async () => {
      await sql`select 1`.execute(query);
    },
    close: () => query.destroy(),
  };
}

/** Kysely on PostgreSQL through `pg`'s pool. */
import { type Dialect, PostgresDialect } from "kysely";
import pg from "pg";

const INT8 = 20;

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Disables the statement timeout. */
  readonly withoutTimeout?: boolean;
}

/** Keeps a lost server from blocking requests until TCP gives up. */
const STATEMENT_MS = 15_000;

/** A request that gets no connection in this time fails with 503. */
const CONNECTION_MS = 2_000;

/** Node's timers overflow beyond 24 days. */
const MAX_CONNECTION_MS = 3_600_000;

/** The connection timeout: `connect_timeout` of the URL, in seconds as in libpq, or the default. */
export function connectionWaitOf(url: string): number {
  const seconds = Number(new URL(url).searchParams.get("connect_timeout"));
  return seconds > 0 ? Math.min(seconds * 1_000, MAX_CONNECTION_MS) : CONNECTION_MS;
}

export function openPostgresPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: connectionWaitOf(options.url),
    idleTimeoutMillis: 30_000,
    // Always set explicitly: the database may have a timeout of its own.
    ...(options.withoutTimeout
      ? { options: "-c statement_timeout=0" }
      : { query_timeout: STATEMENT_MS, statement_timeout: STATEMENT_MS }),
    keepAlive: true,
    types: {
      // All bigint columns are milliseconds and counters, below 2^53.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  // Connections that the server closes are replaced at their next use; without a listener the process would crash.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function postgresDialect(pool: pg.Pool): Dialect {
  return new PostgresDialect({ pool });
}

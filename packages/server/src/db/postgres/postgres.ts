/** Kysely on PostgreSQL through `pg`'s pool. */
import { type Dialect, PostgresDialect } from "kysely";
import pg from "pg";

const INT8 = 20;

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  /** No limit on how long a statement takes. */
  readonly isPatient?: boolean;
}

/** A lost server must not hold requests until TCP gives up. */
const STATEMENT_MS = 15_000;

/** A request that finds no connection within this time is answered with 503 instead of waiting on. */
const CONNECTION_MS = 2_000;

/** Beyond 24 days a timer of Node's runs out at once; nobody waits for an hour. */
const MOST_CONNECTION_MS = 3_600_000;

/** How long to wait for a connection: `connect_timeout` of the address, in seconds as libpq has it, or our own. */
export function connectionWaitOf(url: string): number {
  const seconds = Number(new URL(url).searchParams.get("connect_timeout"));
  return seconds > 0 ? Math.min(seconds * 1_000, MOST_CONNECTION_MS) : CONNECTION_MS;
}

export function openPostgresPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: connectionWaitOf(options.url),
    idleTimeoutMillis: 30_000,
    // Said to the server either way: the database may have a limit of its own.
    ...(options.isPatient
      ? { options: "-c statement_timeout=0" }
      : { query_timeout: STATEMENT_MS, statement_timeout: STATEMENT_MS }),
    keepAlive: true,
    types: {
      // Our bigint columns are milliseconds and counters: all well below 2^53.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  // A connection that the server closes, idle or between two statements of a transaction, is replaced at its next use;
  // without a listener the process would end.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function postgresDialect(pool: pg.Pool): Dialect {
  return new PostgresDialect({ pool });
}

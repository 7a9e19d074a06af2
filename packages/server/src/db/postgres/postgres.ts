/** Kysely on PostgreSQL through `pg`'s pool, which replaces connections that the server or the network has dropped. */
import { setTimeout as delay } from "node:timers/promises";
import { type Dialect, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import pg from "pg";
import {
  connectionEndOf,
  isServerAway,
  ReadOnlyServer,
  UnansweredConnection,
  UnreplicatedCommit,
} from "../database-errors.ts";
import type { ServerChoice } from "./server-addresses.ts";
import { statementName } from "./statement-names.ts";
import {
  cut,
  processId,
  type WatchedConnection,
  type WatchedConnections,
  watchConnections,
} from "./watched-connections.ts";

const INT8 = 20;

export interface PostgresOptions {
  readonly servers: ServerChoice;
  readonly poolSize: number;
  /** The server may have a timeout of its own: a transaction turns it off for itself. */
  readonly withoutTimeout?: boolean;
  /** Of a replica: none of several servers has to take writes. */
  readonly mayBeReadOnly?: boolean;
}

/** Keeps a lost server from blocking requests until TCP gives up. */
const STATEMENT_MS = 15_000;

/** After the server's own timeout: a connection that has not even told of that is dead. */
const ANSWER_MS = STATEMENT_MS + 1_000;

/** A request that gets no connection in this time fails with 503. */
const CONNECTION_MS = 2_000;

/** Node's timers overflow beyond 24 days. */
const MAX_CONNECTION_MS = 3_600_000;

/** With Node's ten probes a second apart, an idle connection that is dead is noticed within 20 seconds. */
const KEEP_ALIVE_MS = 10_000;

/** A connection that has said nothing for so long is tried before a request gets it. */
const UNTRIED_MS = 5_000;
const TRIAL_MS = 1_000;

/** How long new connections are tried whose server greets and then answers no statement, and the time between two of them. */
const GREETED_MS = 4_000;
const GREETED_PAUSE_MS = 50;

/** What is under way when the pool is closed has this long to end. */
const CLOSE_MS = 2_000;

/** The connection timeout: `connect_timeout` of the URL, in seconds as in libpq, or the default. */
export function connectionWaitOf(url: string): number {
  const seconds = Number(new URL(url).searchParams.get("connect_timeout"));
  return seconds > 0 ? Math.min(seconds * 1_000, MAX_CONNECTION_MS) : CONNECTION_MS;
}

/** The pool as Kysely uses it, and `pg`'s own below. */
export interface OpenPool extends PostgresPool {
  readonly pool: pg.Pool;
  /** Cuts every connection and makes no more: statements fail at once. */
  abandon(): void;
  /** Uses no connection of now for another request: the address may lead to another server. */
  replaceAll(): void;
  /** Every connection is held by a transaction that has sent nothing for this long, in milliseconds; 0 otherwise. */
  stuckFor(): number;
}

export function openPostgresPool(options: PostgresOptions): OpenPool {
  const { servers } = options;
  const wanted: Wanted = {
    mustWrite: servers.count > 1 && options.mayBeReadOnly !== true,
    hasTimeout: options.withoutTimeout !== true,
  };
  const connections = watchConnections(servers);
  const pool = createPool(options, connections);
  const acquire = async (tried = 1, since = performance.now()): Promise<WatchedConnection> => {
    const from = servers.current();
    const client = await pool.connect().catch((error: unknown) => {
      if (!isServerAway(error)) throw error;
      servers.moveOn(from);
      if (tried >= servers.count) throw error;
      return undefined;
    });
    if (!client) return acquire(tried + 1, since);
    const connection = connections.of(client);
    // Its socket may have been cut a moment ago, which the pool hears of later.
    const isWhole = connection !== undefined && !connection.isBroken;
    if (isWhole && (await isUsable(connection, wanted))) return connection;
    client.release(true);
    connections.cutIdle();
    if (connection?.isUnwanted === true) {
      servers.moveOn(connection.url);
      if (tried >= servers.count) throw new ReadOnlyServer();
      return acquire(tried + 1, since);
    }
    if (performance.now() - since > GREETED_MS) throw new UnansweredConnection();
    if (connection?.keepsStatements === undefined) {
      // A new one: its server greets and does no more, as a pooler does whose database is away.
      if (isWhole) servers.moveOn(connection.url);
      await delay(GREETED_PAUSE_MS);
    }
    return acquire(tried, since);
  };
  const end = async () => {
    const late = new AbortController();
    const ended = pool.end();
    void delay(CLOSE_MS, undefined, { signal: late.signal }).then(connections.abandon, () => {});
    await ended;
    late.abort();
    connections.stop();
  };
  return {
    pool,
    options: pool.options,
    connect: async () => requestsClient(await acquire(), connections, servers),
    end,
    replaceAll: connections.replaceAll,
    abandon: connections.abandon,
    stuckFor: () => stuckFor(connections, options.poolSize),
  };
}

function createPool(
  { servers, poolSize, withoutTimeout }: PostgresOptions,
  connections: WatchedConnections,
): pg.Pool {
  const pool = new pg.Pool({
    Client: connections.Client,
    connectionString: servers.current(),
    max: poolSize,
    connectionTimeoutMillis: connectionWaitOf(servers.current()),
    idleTimeoutMillis: 30_000,
    // No startup parameter, such as the server's own timeout: a pooler refuses those that it does not know.
    ...(withoutTimeout ? {} : { query_timeout: ANSWER_MS }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: {
      // All bigint columns are milliseconds and counters, below 2^53.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  // Connections that the server closes are replaced at their next use; without a listener the process would crash.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    const connection = connections.of(client);
    if (connection) Object.assign(connection, { isConnected: true, ...answered() });
  });
  const use = (client: pg.PoolClient, isInUse: boolean) => {
    const connection = connections.of(client);
    if (connection) connection.isInUse = isInUse;
  };
  pool.on("acquire", (client) => use(client, true));
  pool.on("release", (_error, client) => use(client, false));
  return pool;
}

const answered = () => ({ owedSince: undefined, lastAnswerAt: performance.now() });

interface Wanted {
  /** Of several servers one takes writes. */
  readonly mustWrite: boolean;
  /** The server ends a statement that takes too long. */
  readonly hasTimeout: boolean;
}

const isUsable = (connection: WatchedConnection, wanted: Wanted): boolean | Promise<boolean> =>
  connection.keepsStatements === undefined ? learnsOfIt(connection, wanted) : answers(connection);

/**
 * The process that answers is the one that greeted, unless a pooler is between. Of a pooler's process others are served next:
 * it keeps its timeout. Otherwise ours is set, as the database may have one of its own.
 */
const LEARN = `select pg_backend_pid() as pid, current_setting('transaction_read_only') as read_only,
  case when pg_backend_pid() = $1::int then set_config('statement_timeout', $2, false) end as timeout`;

/** @returns false when it is dead, or takes no writes and has to */
async function learnsOfIt(
  connection: WatchedConnection,
  { mustWrite, hasTimeout }: Wanted,
): Promise<boolean> {
  connection.owedSince = performance.now();
  try {
    const greeted = processId(connection);
    const { rows } = await connection.client.query<{ pid: number; read_only: string }>(LEARN, [
      hasTimeout ? greeted : null,
      String(STATEMENT_MS),
    ]);
    connection.keepsStatements = rows[0]?.pid === greeted;
    connection.isUnwanted = mustWrite && rows[0]?.read_only === "on";
    return !connection.isUnwanted;
  } catch {
    cut(connection);
    return false;
  } finally {
    Object.assign(connection, answered());
  }
}

/** Tries a connection that has been silent. @returns false when it is dead */
async function answers(connection: WatchedConnection): Promise<boolean> {
  if (performance.now() - connection.lastAnswerAt < UNTRIED_MS) return true;
  try {
    await connection.client.query({ text: "select 1", query_timeout: TRIAL_MS } as pg.QueryConfig);
    return true;
  } catch {
    cut(connection);
    return false;
  }
}

function stuckFor(connections: WatchedConnections, poolSize: number): number {
  const inUse = [...connections.all()].filter((one) => one.isConnected && one.isInUse);
  if (inUse.length < poolSize || inUse.some(({ owedSince }) => owedSince !== undefined)) return 0;
  return performance.now() - Math.max(...inUse.map(({ lastAnswerAt }) => lastAnswerAt));
}

/** What Kysely sees of a connection. */
function requestsClient(
  connection: WatchedConnection,
  { replaceAll }: WatchedConnections,
  servers: ServerChoice,
): PostgresPoolClient {
  const { client } = connection;
  const run = async (text: string, values: readonly unknown[]) => {
    connection.owedSince = performance.now();
    try {
      const name = connection.keepsStatements === true ? statementName(text) : undefined;
      const query = { text, values: [...values] };
      connection.isUnreplicated = false;
      const answer = await client.query(name === undefined ? query : { ...query, name });
      if (connection.isUnreplicated) throw new UnreplicatedCommit();
      return answer;
    } catch (error) {
      const end = connectionEndOf(error);
      if (end !== "no") connection.isBroken = true;
      // Else a rollback would wait for an answer too.
      if (end === "silent") cut(connection);
      if (end === "wrong server") {
        servers.moveOn(connection.url);
        replaceAll();
      }
      throw error;
    } finally {
      Object.assign(connection, answered());
    }
  };
  return {
    query: run as unknown as PostgresPoolClient["query"],
    release: (destroy) =>
      (client as unknown as pg.PoolClient).release(destroy === true || connection.isBroken),
  };
}

export const postgresDialect = (pool: OpenPool): Dialect => new PostgresDialect({ pool });

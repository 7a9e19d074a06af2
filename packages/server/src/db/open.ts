/** Opens the database: embedded SQLite or PostgreSQL, behind the same typed queries. */
import type { DatabaseSync } from "node:sqlite";
import { type Dialect, Kysely, sql } from "kysely";
import type pg from "pg";
import { ReadOnlyServer } from "./database-errors.ts";
import { runOwnStatements, withOneDriver } from "./own-statements.ts";
import { openPostgresPool, postgresDialect } from "./postgres/postgres.ts";
import { chooseServers, type ServerChoice } from "./postgres/server-addresses.ts";
import type { Replica } from "./replica.ts";
import type { Schema } from "./schema.ts";
import { nodeSqliteDialect, openSqliteFile } from "./sqlite/node-sqlite.ts";
import { turns } from "./sqlite/turns.ts";
import { refusingNested, runInTransaction } from "./transaction-scope.ts";

/** A connection or a transaction; stores accept both. */
export type Db = Kysely<Schema>;

interface Opened {
  readonly query: Db;
  /**
   * On SQLite the write lock is taken at the start. Inside, `query` and `transaction` of this database throw
   * `NestedConnection`: statements go through `tx`.
   */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Throws when the database doesn't respond, or can't be written. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface Watched {
  /** Cuts every connection to a server: statements under way and later ones fail at once. For a stop that can't wait. */
  abandon(): void;
  /**
   * How long, in milliseconds, a transaction has kept all others waiting without a statement; 0 while none does. A fault of
   * our own: a database that is away keeps nobody waiting for longer than a request takes.
   */
  stuckFor(): number;
  connections(): Connections;
}

/** Of this process. */
export interface Connections {
  readonly inUse: number;
  readonly idle: number;
  /** Requests that wait for one. */
  readonly waiting: number;
}

export type Database = Opened &
  Watched & {
    /** For what may be old by a second: see old-reads.ts. Undefined where none is set, and in a transaction. */
    readonly replica?: Replica | undefined;
  } & (
    | { readonly kind: "sqlite"; readonly file: DatabaseSync }
    | {
        readonly kind: "postgres";
        readonly pool: pg.Pool;
        readonly servers: ServerChoice;
        /** Those whose notifications are heard, which a pooler would lose. */
        readonly listenServers: ServerChoice;
      }
  );

/**
 * @param url `sqlite:<path>` or `postgres://…`
 * @param poolSize maximum PostgreSQL connections of this process; ignored for SQLite
 * @param around for tests, which observe every statement
 * @param listenUrl where notifications are heard, if the other address is a pooler's
 */
export function openDatabase(
  url: string,
  poolSize = 10,
  around: (dialect: Dialect) => Dialect = (dialect) => dialect,
  listenUrl?: string,
): Database {
  const openDialect = (dialect: Dialect) => openKysely(around(dialect));
  if (url.startsWith("sqlite:")) {
    const file = openSqliteFile(url.slice("sqlite:".length));
    const turn = turns();
    const dialect = nodeSqliteDialect(file, turn);
    const connections = (): Connections => {
      const inUse = turn.isTaken() ? 1 : 0;
      return { inUse, idle: 1 - inUse, waiting: turn.waiting() };
    };
    const watched = { abandon: () => {}, stuckFor: turn.takenFor, connections };
    return { kind: "sqlite", file, ...openDialect(dialect), ...watched };
  }
  const servers = chooseServers(url);
  const listenServers = listenUrl === undefined ? servers : chooseServers(listenUrl);
  const opened = openPostgresPool({ servers, poolSize });
  const { pool, abandon, stuckFor } = opened;
  const { query, ...rest } = openDialect(postgresDialect(opened));
  const ping = async () => {
    const from = servers.current();
    await requireWritable(query).catch((error: unknown) => {
      if (error instanceof ReadOnlyServer) {
        servers.moveOn(from);
        opened.replaceAll();
      }
      throw error;
    });
  };
  const connections = (): Connections => ({
    inUse: pool.totalCount - pool.idleCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  });
  const watched = { abandon, stuckFor, connections };
  return { kind: "postgres", pool, servers, listenServers, query, ...rest, ping, ...watched };
}

/** A standby answers every question and refuses every request's first write. */
async function requireWritable(query: Db): Promise<void> {
  const { rows } = await sql<{ state: string }>`
    select current_setting('transaction_read_only') as state`.execute(query);
  if (rows[0]?.state === "on") throw new ReadOnlyServer();
}

/** The database inside a transaction: nested transactions join it. */
export const boundTo = (database: Database, tx: Db): Database => ({
  ...database,
  query: tx,
  replica: undefined,
  transaction: (work) => work(tx),
});

/** One PostgreSQL connection for what may take long, such as migrations. */
export function openWithoutTimeout(servers: ServerChoice): Pick<Opened, "transaction" | "close"> {
  const pool = openPostgresPool({ servers, poolSize: 1, withoutTimeout: true });
  const { transaction, close } = openKysely(postgresDialect(pool));
  return {
    transaction: (work) =>
      transaction(async (tx) => {
        // The database may have a timeout of its own.
        await sql`set local statement_timeout = 0`.execute(tx);
        return work(tx);
      }),
    close,
  };
}

export function openKysely(dialect: Dialect): Opened {
  const owner = {};
  const { dialect: withOne, driver } = withOneDriver(refusingNested(dialect, owner));
  const query = new Kysely<Schema>({ dialect: withOne });
  runOwnStatements(query, driver);
  return {
    query,
    transaction: (work) => query.transaction().execute((tx) => runInTransaction(owner, () => work(tx))),
    ping: async () => {
      await sql`select 1`.execute(query);
    },
    close: async () => {
      await query.destroy();
      await driver.destroy();
    },
  };
}

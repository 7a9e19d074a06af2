/**
 * Records what each request of a test changes in the database, and its audit events, statement by
 * statement at the driver, so that every store is covered. A rollback discards its changes. A statement with a time in its text
 * fails: each call would compile another one, and push a prepared one out of its cache.
 */
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, Server } from "node:http";
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";

/** Rows of a table that a request wrote. */
export interface Write {
  readonly verb: "insert" | "update" | "delete";
  readonly table: string;
  /** Of an update. */
  readonly columns: readonly string[];
  /** Of an event, by column. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface WatchedAct {
  readonly method: string;
  readonly url: string;
  readonly writes: Write[];
}

export interface ActWatch {
  /** Around the dialect of the service's database. */
  readonly dialect: (dialect: Dialect) => Dialect;
  /** Records each request of the app as an act. */
  watch(server: Server): void;
  /** Records another act, e.g. a command. */
  during<T>(method: string, url: string, work: () => Promise<T>): Promise<T>;
  /** Every act so far that wrote rows. */
  acts(): readonly WatchedAct[];
}

export function watchActs(): ActWatch {
  const asked = new AsyncLocalStorage<WatchedAct>();
  const acts: WatchedAct[] = [];
  const note = (act: WatchedAct, writes: readonly Write[]) => {
    if (act.writes.length === 0 && writes.length > 0) acts.push(act);
    act.writes.push(...writes);
  };
  return {
    dialect: (dialect) => ({
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver: () => watchedDriver(dialect.createDriver(), () => asked.getStore(), note),
    }),
    watch: (server) => {
      server.prependListener("request", ({ method = "", url = "" }: IncomingMessage) => {
        asked.enterWith({ method, url, writes: [] });
      });
    },
    during: (method, url, work) => asked.run({ method, url, writes: [] }, work),
    acts: () => acts,
  };
}

function watchedDriver(
  driver: Driver,
  current: () => WatchedAct | undefined,
  note: (act: WatchedAct, writes: readonly Write[]) => void,
): Driver {
  /** The rows that a connection's open transaction has written. */
  const open = new Map<DatabaseConnection, Write[]>();
  const watched = new WeakSet<DatabaseConnection>();
  const watch = (connection: DatabaseConnection) => {
    if (watched.has(connection)) return connection;
    watched.add(connection);
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      assert.doesNotMatch(query.sql, TIME_IN_TEXT);
      const result = await execute<R>(query);
      const act = current();
      if (act && (result.numAffectedRows ?? result.rows.length) > 0) {
        const writes = writesOf(query);
        const pending = open.get(connection);
        if (pending) pending.push(...writes);
        else note(act, writes);
      }
      return result;
    };
    return connection;
  };
  return {
    init: (...given) => driver.init(...given),
    destroy: (...given) => driver.destroy(...given),
    acquireConnection: async (...given) => watch(await driver.acquireConnection(...given)),
    releaseConnection: (...given) => driver.releaseConnection(...given),
    beginTransaction: async (connection, settings) => {
      await driver.beginTransaction(connection, settings);
      open.set(connection, []);
    },
    commitTransaction: async (connection) => {
      await driver.commitTransaction(connection);
      const act = current();
      if (act) note(act, open.get(connection) ?? []);
      open.delete(connection);
    },
    rollbackTransaction: async (connection) => {
      open.delete(connection);
      await driver.rollbackTransaction(connection);
    },
  };
}

/** Kysely writes numbers as they are into `case`, without a parameter. */
const TIME_IN_TEXT = /\b(?:then|else) \d{6}/;

/** A statement may have several in its `with`; `on conflict do update` and `for update` are none of their own. */
const WRITING =
  /(?<!\bdo |\bfor |\bfor no key )\b(insert into|update|delete from) "?([a-z_]+)"?(?:(?: as "?\w+"?)? set ([\s\S]*?)(?= where | from |$)| \(([^)]*)\))?/g;

function writesOf({ sql, parameters }: CompiledQuery): Write[] {
  if (!/^\s*(?:insert|update|delete|with)\b/.test(sql)) return [];
  return [...sql.matchAll(WRITING)].map(([, verb = "", table = "", sets = "", inserted = ""]) => ({
    verb: verb.split(" ")[0] as Write["verb"],
    table,
    // One that is set to what it is, so that nobody else changes the row meanwhile, is not written.
    columns: [...sets.matchAll(/(?:^|, )"?(\w+)"? = (?!"?\1"?(?:$|,))/g)].map(([, column = ""]) => column),
    values: table === "audit_event" ? valuesOf(inserted, parameters) : {},
  }));
}

const valuesOf = (columns: string, parameters: readonly unknown[]): Write["values"] =>
  Object.fromEntries(columns.split(", ").map((column, at) => [column.replaceAll('"', ""), parameters[at]]));

/**
 * Kysely on Node's own SQLite. One connection: SQLite has one writer and synchronous calls, so that a second
 * connection would only add lock waits. Statements are prepared once.
 */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { takeOverSync } from "./disk-sync.ts";
import { addFoldCase } from "./fold-case.ts";
import { type GroupCommit, groupCommit, type StatementKind } from "./group-commit.ts";
import type { Turns } from "./turns.ts";
import { isUnsynced } from "./unsynced-mark.ts";
import { whenUnlocked } from "./when-unlocked.ts";

const CACHED_STATEMENTS = 500;

/** Opens the file so that an acknowledged commit survives a power failure. */
export function openSqliteFile(path: string): DatabaseSync {
  // Created for the owner only, before SQLite creates it for everyone; -wal and -shm files inherit the mode.
  if (path !== ":memory:") closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: 5_000 });
  file.exec("pragma journal_mode = wal");
  file.exec("pragma synchronous = full");
  file.exec("pragma foreign_keys = on");
  file.exec("pragma cache_size = -65536");
  file.exec("pragma temp_store = memory");
  addFoldCase(file);
  return file;
}

/** @param turn in which transactions get the file */
export function nodeSqliteDialect(file: DatabaseSync, turn: Turns): Dialect {
  return {
    createAdapter: groupingAdapter,
    createDriver: () => nodeSqliteDriver(file, turn),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely would run one query at a time; here many wait for one commit, and the driver keeps their order. */
function groupingAdapter(): DialectAdapter {
  return Object.defineProperty(new SqliteAdapter(), "supportsMultipleConnections", { value: true });
}

/** Kysely's connection: one request's place in the queue. */
interface Place extends DatabaseConnection {
  inTransaction: boolean;
}

function nodeSqliteDriver(file: DatabaseSync, turn: Turns): Driver {
  // From now on it is waited for without stopping the process.
  file.exec("pragma busy_timeout = 0");
  const log = takeOverSync(file);
  const group = groupCommit(file, log.sync);
  const prepare = statementCache(file);
  const place = (connection: DatabaseConnection) => connection as Place;

  return {
    init: async () => {},
    acquireConnection: async () => newPlace(prepare, group, turn),
    releaseConnection: async () => {},
    beginTransaction: async (connection) => {
      await whenUnlocked(async () => {
        await turn.take();
        try {
          group.begin();
        } catch (error) {
          // Readers go on while the lock is waited for.
          turn.give();
          throw error;
        }
      });
      place(connection).inTransaction = true;
    },
    commitTransaction: async (connection) => {
      const durable = group.commit();
      place(connection).inTransaction = false;
      // The next transaction may join the group while this one waits for the sync.
      turn.give();
      await durable;
    },
    rollbackTransaction: async (connection) => {
      if (!place(connection).inTransaction) return;
      place(connection).inTransaction = false;
      try {
        group.rollback();
      } finally {
        turn.give();
      }
    },
    destroy: async () => {
      await group.close();
      log.close();
    },
  };
}

function newPlace(prepare: Prepare, group: GroupCommit, turn: Turns): Place {
  const place: Place = {
    inTransaction: false,
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const prepared = prepare(query.sql);
      const run = () => runStatement<R>(prepared, query.parameters as SQLInputValue[]);
      if (place.inTransaction) return group.insideTransaction(run);
      const attempt = async () => {
        if (!turn.isTaken()) return group.statement(prepared.kind, run);
        await turn.take();
        const result = group.statement(prepared.kind, run);
        turn.give();
        return result;
      };
      return prepared.kind === "read" ? attempt() : whenUnlocked(attempt);
    },
    streamQuery: () => {
      throw new Error("streaming is not supported: read in pages");
    },
  };
  return place;
}

function runStatement<R>({ statement, returnsRows }: Prepared, parameters: SQLInputValue[]): QueryResult<R> {
  if (returnsRows) return { rows: statement.all(...parameters) as R[] };
  const { changes } = statement.run(...parameters);
  return { rows: [], numAffectedRows: BigInt(changes) };
}

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  readonly kind: StatementKind;
}

function kindOf(sql: string): StatementKind {
  if (/^\s*(?:select|pragma)\b/i.test(sql)) return "read";
  return isUnsynced(sql) ? "unsynced" : "write";
}

type Prepare = (sql: string) => Prepared;

function statementCache(file: DatabaseSync): Prepare {
  const cache = new Map<string, Prepared>();
  return (sql) => {
    const known = cache.get(sql);
    if (known) return known;
    const statement = file.prepare(sql);
    const returnsRows = statement.columns().length > 0;
    const prepared = { statement, returnsRows, kind: kindOf(sql) };
    if (cache.size >= CACHED_STATEMENTS) cache.delete(cache.keys().next().value as string);
    cache.set(sql, prepared);
    return prepared;
  };
}

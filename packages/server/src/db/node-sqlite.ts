/**
 * Kysely on Node's own SQLite. One connection: SQLite has one writer anyway, and its calls are synchronous, so that a
 * second connection would only add lock waits. Statements are prepared once and kept.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

const CACHED_STATEMENTS = 500;

/** Opens the file with the durability that tokens need: a commit that was acknowledged survives a power cut. */
export function openSqliteFile(path: string): DatabaseSync {
  const file = new DatabaseSync(path, { timeout: 5_000 });
  file.exec("pragma journal_mode = wal");
  file.exec("pragma synchronous = full");
  file.exec("pragma foreign_keys = on");
  file.exec("pragma cache_size = -65536");
  file.exec("pragma temp_store = memory");
  return file;
}

export function nodeSqliteDialect(file: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => nodeSqliteDriver(file),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function nodeSqliteDriver(file: DatabaseSync): Driver {
  const connection = sqliteConnection(file);
  const waiting: Array<() => void> = [];
  let taken = false;

  return {
    init: async () => {},
    // Transactions of different requests interleave at their awaits, so a connection belongs to one at a time.
    acquireConnection: async () => {
      if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
      taken = true;
      return connection;
    },
    releaseConnection: async () => {
      const next = waiting.shift();
      if (next) next();
      else taken = false;
    },
    // IMMEDIATE: the write lock is taken at once, so that no transaction fails half-way on another process's write.
    beginTransaction: async () => file.exec("begin immediate"),
    commitTransaction: async () => file.exec("commit"),
    rollbackTransaction: async () => {
      if (file.isTransaction) file.exec("rollback");
    },
    destroy: async () => file.close(),
  };
}

function sqliteConnection(file: DatabaseSync): DatabaseConnection {
  const prepare = statementCache(file);
  return {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const { statement, returnsRows } = prepare(query.sql);
      const parameters = query.parameters as SQLInputValue[];
      if (returnsRows) return { rows: statement.all(...parameters) as R[] };
      const { changes } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    streamQuery: async function* <R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      const { statement } = prepare(query.sql);
      for (const row of statement.iterate(...(query.parameters as SQLInputValue[])))
        yield { rows: [row as R] };
    },
  };
}

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

function statementCache(file: DatabaseSync): (sql: string) => Prepared {
  const cache = new Map<string, Prepared>();
  return (sql) => {
    const known = cache.get(sql);
    if (known) return known;
    const statement = file.prepare(sql);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    if (cache.size >= CACHED_STATEMENTS) cache.delete(cache.keys().next().value as string);
    cache.set(sql, prepared);
    return prepared;
  };
}

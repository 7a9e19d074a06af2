/**
 * What the database takes, told by the function of the store that asks for it. Only there when something listens: a service without
 * metrics, traces and a limit for slow statements has the dialect as it is.
 */
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryCompiler, QueryResult } from "kysely";
import { functionOf, learnFunction } from "./function-names.ts";

export interface StatementObserver {
  /**
   * Called around each statement, and around the begin and the commit of a transaction.
   * @param name of the function that issued it, never a value
   * @returns what `run` returns
   */
  observe<T>(name: string, run: () => Promise<T>): Promise<T>;
  /** Called when a connection was got, or was not in time. @param seconds what that took */
  onAcquired?(seconds: number): void;
}

export function observingStatements(dialect: Dialect, observer: StatementObserver): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => namingCompiler(dialect.createQueryCompiler()),
    createDriver: () => observedDriver(dialect.createDriver(), observer),
  };
}

/** A statement is compiled while its function is on the stack; later it is one of many that wait. */
const namingCompiler = (compiler: QueryCompiler): QueryCompiler => ({
  compileQuery: (node, queryId) => {
    const compiled = compiler.compileQuery(node, queryId);
    learnFunction(compiled.sql);
    return compiled;
  },
});

function observedDriver(driver: Driver, observer: StatementObserver): Driver {
  /** A pool's connections come again. */
  const observed = new WeakSet<DatabaseConnection>();
  const watch = (connection: DatabaseConnection): DatabaseConnection => {
    if (observed.has(connection)) return connection;
    observed.add(connection);
    const run = connection.executeQuery.bind(connection);
    // The same object: the driver knows its own.
    connection.executeQuery = <R>(query: CompiledQuery): Promise<QueryResult<R>> =>
      isOfTransaction(query.sql)
        ? run<R>(query)
        : observer.observe(functionOf(query.sql), () => run<R>(query));
    return connection;
  };
  return {
    init: (options) => driver.init(options),
    destroy: (options) => driver.destroy(options),
    acquireConnection: async (options) => {
      const since = performance.now();
      try {
        return watch(await driver.acquireConnection(options));
      } finally {
        observer.onAcquired?.((performance.now() - since) / 1_000);
      }
    },
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    beginTransaction: (connection, settings) =>
      observer.observe("begin", () => driver.beginTransaction(connection, settings)),
    commitTransaction: (connection) => observer.observe("commit", () => driver.commitTransaction(connection)),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
  };
}

/** Those of the driver itself, which are observed as a whole. */
const isOfTransaction = (sql: string): boolean => /^(?:begin|start transaction|commit|rollback)\b/i.test(sql);

/** Tells each of several. */
export function observeAll(observers: readonly StatementObserver[]): StatementObserver | undefined {
  const [first, ...others] = observers;
  if (!first || others.length === 0) return first;
  const next = observeAll(others);
  return {
    observe: (name, run) => first.observe(name, () => next?.observe(name, run) ?? run()),
    onAcquired: (seconds) => {
      for (const one of observers) one.onAcquired?.(seconds);
    },
  };
}

/** Calls `tell` for each statement that took so long. */
export const slowStatements = (
  limitMs: number,
  tell: (slow: { readonly function: string; readonly durationMs: number }) => void,
): StatementObserver => ({
  observe: async (name, run) => {
    const since = performance.now();
    try {
      return await run();
    } finally {
      const durationMs = Math.round((performance.now() - since) * 100) / 100;
      if (durationMs >= limitMs) tell({ function: name, durationMs });
    }
  },
});

/**
 * Refuses a connection to whoever holds one already. A statement outside the transaction of its own request would wait for
 * a connection that the transaction returns only after the statement: for ever on SQLite, which has one, and under load
 * on PostgreSQL, where every request holds one and wants a second.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Dialect, Driver } from "kysely";

interface Scope {
  /** Which database the transaction is of. */
  readonly owner: object;
  /** False once its callback has ended: what it has started and not awaited may go on by itself. */
  isOpen: boolean;
}

const scopes = new AsyncLocalStorage<Scope | undefined>();

/** A fault of our own code: the statement has to use the transaction. */
export class NestedConnection extends Error {
  constructor() {
    super("a connection was asked for inside a transaction: use the transaction");
    this.name = "NestedConnection";
  }
}

/** Runs the callback of a transaction. @param owner the same for all transactions of one database */
export async function runInTransaction<T>(owner: object, work: () => Promise<T>): Promise<T> {
  const scope = { owner, isOpen: true };
  try {
    return await scopes.run(scope, work);
  } finally {
    scope.isOpen = false;
  }
}

/** For tests: runs the work as another request's, which waits for the transaction that it is called in. */
export const asAnotherRequest = <T>(work: () => T): T => scopes.run(undefined, work);

/** The dialect, refusing a connection to whoever is inside one of the owner's transactions. */
export const refusingNested = (dialect: Dialect, owner: object): Dialect => ({
  createAdapter: () => dialect.createAdapter(),
  createIntrospector: (db) => dialect.createIntrospector(db),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createDriver: () => refusingDriver(dialect.createDriver(), owner),
});

function refusingDriver(driver: Driver, owner: object): Driver {
  return {
    init: (options) => driver.init(options),
    destroy: (options) => driver.destroy(options),
    acquireConnection: (options) => {
      const scope = scopes.getStore();
      if (scope?.isOpen && scope.owner === owner) return Promise.reject(new NestedConnection());
      return driver.acquireConnection(options);
    },
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
  };
}

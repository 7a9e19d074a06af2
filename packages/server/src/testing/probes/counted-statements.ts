/** Counts the statements that a service sends to its database, begin and commit included. */
import type { DatabaseConnection, Dialect, Driver } from "kysely";

export interface StatementCount {
  /** Around the dialect of the service's database. */
  readonly dialect: (dialect: Dialect) => Dialect;
  /** Those since the last call, as they were sent. */
  take(): string[];
}

export function countStatements(): StatementCount {
  let statements: string[] = [];
  const note = (statement: string) => statements.push(statement);
  return {
    dialect: (dialect) => ({
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver: () => countingDriver(dialect.createDriver(), note),
    }),
    take: () => {
      const taken = statements;
      statements = [];
      return taken;
    },
  };
}

function countingDriver(driver: Driver, note: (statement: string) => void): Driver {
  const counted = new WeakSet<DatabaseConnection>();
  const count = (connection: DatabaseConnection): DatabaseConnection => {
    if (counted.has(connection)) return connection;
    counted.add(connection);
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = (query) => {
      note(query.sql);
      return execute(query);
    };
    return connection;
  };
  return {
    init: (options) => driver.init(options),
    destroy: (options) => driver.destroy(options),
    acquireConnection: async (options) => count(await driver.acquireConnection(options)),
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
  };
}

/**
 * A statement that is compiled already needs a connection and nothing else of Kysely: its executor, plugins and promises cost
 * as much again as a point read in SQLite (docs/decisions/2026-11-27-hot-path.md).
 */
import type { CompiledQuery, Dialect, Driver, Kysely, QueryResult } from "kysely";
import type { Schema } from "./schema.ts";

type Db = Kysely<Schema>;

export type RunStatement = <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>;

const runners = new WeakMap<Db, RunStatement>();

/** Undefined inside a transaction, whose connection the query builder holds. */
export const ownStatements = (db: Db): RunStatement | undefined => runners.get(db);

/** The dialect with one driver, however often Kysely asks for it. */
export function withOneDriver(dialect: Dialect): { readonly dialect: Dialect; readonly driver: Driver } {
  const driver = initialisedOnce(dialect.createDriver());
  return {
    driver,
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver: () => driver,
    },
  };
}

/** Kysely initialises and destroys only what a statement of its own has used. */
function initialisedOnce(driver: Driver): Driver {
  let isReady = false;
  let ready: Promise<void> | undefined;
  let destroyed: Promise<void> | undefined;
  const init = async () => {
    ready ??= driver.init();
    await ready;
    isReady = true;
  };
  return {
    init,
    acquireConnection: async (options) => {
      if (destroyed) throw new Error("the database is closed");
      if (!isReady) await init();
      return driver.acquireConnection(options);
    },
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    destroy: async (options) => {
      destroyed ??= driver.destroy(options);
      await destroyed;
    },
  };
}

/** From now on the compiled statements of this database take a connection of the driver. */
export function runOwnStatements(db: Db, driver: Driver): void {
  runners.set(db, async (query) => {
    const connection = await driver.acquireConnection();
    try {
      return await connection.executeQuery(query);
    } finally {
      await driver.releaseConnection(connection);
    }
  });
}

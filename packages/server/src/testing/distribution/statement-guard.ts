/**
 * Watches every statement that the stores of this process send to PostgreSQL: each names one organisation, or is of one of the listed
 * functions. So a database that distributes by organisation sends it to one node.
 */
import { type CompiledQuery, type DatabaseConnection, type Driver, PostgresDialect } from "kysely";
import { tablesByOrganisation } from "../../db/distribution/tables.ts";
import { functionOf, learnFunction, OTHER } from "../../db/observed/function-names.ts";
import { crossingFunctions } from "./crossing-functions.ts";
import { loadParser, type NamedOrganisations, organisationsIn } from "./organisations-in-statement.ts";

export interface StatementGuard {
  /** What was wrong since the last call, once for each function: its name, the fault and the statement. */
  take(): string[];
}

const distribution: ReadonlyMap<string, string> = new Map(tablesByOrganisation);

/** @returns undefined: nothing is wrong */
export function faultOf({ without, parameters, isList }: NamedOrganisations, values: readonly unknown[]) {
  if (without.length > 0) return `names no organisation for ${without.join(", ")}`;
  if (isList) return "names a list of organisations";
  const named = new Set(parameters.map((at) => values[at - 1]));
  return named.size > 1 ? "names several organisations" : undefined;
}

/** For the rest of the process. */
export async function guardStatements(): Promise<StatementGuard> {
  await loadParser();
  const read = new Map<string, NamedOrganisations>();
  const faults = new Map<string, string>();

  const look = ({ sql, parameters }: CompiledQuery): void => {
    const name = functionOf(sql);
    if (name === OTHER || name in crossingFunctions) return;
    const named = read.get(sql) ?? organisationsIn(sql, distribution);
    read.set(sql, named);
    const fault = faultOf(named, parameters);
    if (fault !== undefined && !faults.has(name)) faults.set(name, `${name} ${fault}: ${sql.slice(0, 400)}`);
  };

  const { createDriver, createQueryCompiler } = PostgresDialect.prototype;
  PostgresDialect.prototype.createQueryCompiler = function () {
    const compiler = createQueryCompiler.call(this);
    const compile = compiler.compileQuery.bind(compiler);
    compiler.compileQuery = (node, queryId) => {
      const compiled = compile(node, queryId);
      learnFunction(compiled.sql);
      return compiled;
    };
    return compiler;
  };
  PostgresDialect.prototype.createDriver = function () {
    return watched(createDriver.call(this), look);
  };
  return {
    take: () => {
      const taken = [...faults.values()];
      faults.clear();
      return taken;
    },
  };
}

function watched(driver: Driver, look: (query: CompiledQuery) => void): Driver {
  const seen = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options);
    if (seen.has(connection)) return connection;
    seen.add(connection);
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = (query) => {
      look(query);
      return execute(query);
    };
    return connection;
  };
  return driver;
}

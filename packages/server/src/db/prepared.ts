/**
 * Prepared statements for the hot path: built and compiled once per dialect. Building and compiling with Kysely costs
 * several times a point read in SQLite (20 to 50 µs against 5).
 */
import { type Compilable, CompiledQuery } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import { learnFunction } from "./observed/function-names.ts";
import type { Db } from "./open.ts";
import { ownStatements } from "./own-statements.ts";
import { nameStatement } from "./postgres/statement-names.ts";

type Values = Readonly<Record<string, string | number | null>>;

/** A placeholder in the statement; typed as the value for the query builder. */
export type Parameter<V extends Values> = <K extends keyof V & string>(name: K) => V[K];

/** A row as the values of a compiled INSERT. */
export type Columns<Row> = { [Name in keyof Row]: Row[Name] };

/** @param columns all of the table's (columnsOf) */
export const eachColumn = <Row extends Values>(
  columns: readonly (keyof Row & string)[],
  value: Parameter<Row>,
): Row => Object.fromEntries(columns.map((name) => [name, value(name)])) as unknown as Row;

interface Placeholder {
  readonly placeholder: string;
}

const isPlaceholder = (one: unknown): one is Placeholder =>
  typeof one === "object" && one !== null && "placeholder" in one;

interface Compiled {
  /** Without its parameters. */
  readonly query: CompiledQuery<unknown>;
  /** By position: a placeholder, or a constant. */
  readonly parameters: readonly unknown[];
}

const filled = (parameters: readonly unknown[], values: Values): unknown[] =>
  parameters.map((one) => (isPlaceholder(one) ? values[one.placeholder] : one));

/**
 * @param build builds the statement; called once per dialect, and may use nothing but its arguments
 * @returns runs it on a connection or in a transaction
 */
export function prepared<V extends Values, Row = never>(
  build: (db: Db, value: Parameter<V>) => Compilable<Row>,
): (db: Db, values: V) => Promise<Row[]> {
  let sqlite: Compiled | undefined;
  let postgres: Compiled | undefined;
  const compile = (db: Db): Compiled => {
    const placeholders = ((placeholder: string) => ({ placeholder })) as unknown as Parameter<V>;
    const { sql, parameters } = build(db, placeholders).compile();
    if (isPostgres(db)) nameStatement(sql);
    // Now, as it is compiled once for all databases of the process, whether anything observes them yet or not.
    learnFunction(sql);
    return { query: CompiledQuery.raw(sql), parameters };
  };

  return async (db, values) => {
    let compiled: Compiled;
    if (isPostgres(db)) compiled = postgres ??= compile(db);
    else compiled = sqlite ??= compile(db);
    const parameters = filled(compiled.parameters, values);
    const query = { ...compiled.query, parameters } as CompiledQuery<Row>;
    const run = ownStatements(db);
    return (run ? await run(query) : await db.executeQuery(query)).rows;
  };
}

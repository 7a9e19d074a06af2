/** Inspects the database for `signet doctor`, without changing anything. */
import { sql } from "kysely";
import type { Database } from "./open.ts";

export interface DatabaseFacts {
  /** E.g. `PostgreSQL 17.2`. */
  readonly product: string;
  /** Reasons why Signet can't use it, as sentences. */
  readonly faults: readonly string[];
  /** Its clock, milliseconds since the epoch; undefined for SQLite. */
  readonly clock: number | undefined;
}

const OLDEST_POSTGRES = 15;

/** @throws when the database doesn't respond or is read-only */
export async function inspectDatabase(database: Database): Promise<DatabaseFacts> {
  // SQLite locks for writing with the transaction, which fails on a read-only file.
  await database.transaction(async () => {});
  return database.kind === "postgres" ? inspectPostgres(database) : inspectSqlite(database);
}

async function inspectSqlite({ query }: Database): Promise<DatabaseFacts> {
  const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(query);
  return { product: `SQLite ${rows[0]?.version}`, faults: [], clock: undefined };
}

interface PostgresRow {
  readonly version: string;
  readonly number: number;
  readonly encoding: string;
  readonly standby: boolean;
  readonly now: number;
}

async function inspectPostgres({ query }: Database): Promise<DatabaseFacts> {
  const { rows } = await sql<PostgresRow>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(query);
  const [row] = rows;
  if (!row) throw new Error("the database answered nothing");
  return { product: `PostgreSQL ${row.version}`, faults: postgresFaults(row), clock: row.now };
}

/** @param facts `number` as in server_version_num, e.g. 150004 */
export function postgresFaults(facts: Pick<PostgresRow, "number" | "encoding" | "standby">): string[] {
  const { number, encoding, standby } = facts;
  const faults: string[] = [];
  if (number < OLDEST_POSTGRES * 10_000) faults.push(`It must be PostgreSQL ${OLDEST_POSTGRES} or newer.`);
  if (encoding !== "UTF8") faults.push(`Its encoding is ${encoding}: names need UTF8.`);
  if (standby) faults.push("It is a standby and cannot be written: connect to the primary.");
  return faults;
}

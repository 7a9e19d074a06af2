/**
 * Migrates the schema. All pending migrations run in one transaction under an advisory lock: of nodes that start
 * together, one migrates and the others wait.
 */
import { sql } from "kysely";
import { timeline } from "./migrations/timeline.ts";
import { type Database, type Db, openWithoutTimeout } from "./open.ts";

/** Any constant, the same on every node. */
export const MIGRATION_LOCK = 7_346_385_401;

/** The schema has migrations that this version doesn't know: it would write rows that break the newer one's rules. */
export class NewerSchema extends Error {
  constructor(unknown: readonly AppliedMigration[], version: string | undefined) {
    const names = unknown.map(({ name }) => name).join(", ");
    // The last one to migrate was the newest: the ones before it refused to.
    const newest = unknown.findLast((one) => one.version)?.version;
    const wanted = newest
      ? `version ${newest} or newer`
      : `the version that applied ${names}, or a newer one`;
    const own = version ? ` (this is ${version})` : "";
    super(
      `the database was migrated by a newer version of Signet${own}: install ${wanted}. Unknown: ${names}`,
    );
    this.name = "NewerSchema";
  }
}

interface AppliedMigration {
  readonly name: string;
  /** Null and undefined where it wasn't recorded. */
  readonly version?: string | null;
}

/**
 * @param version of the running program, which the schema remembers
 * @param only those of these names: the schema of a backup; by default all
 * @returns the names of the migrations that this call applied, oldest first
 * @throws NewerSchema
 */
export async function migrate(
  database: Database,
  version?: string,
  only?: readonly string[],
): Promise<string[]> {
  if (database.kind === "sqlite") return database.transaction((tx) => applyPending(tx, version, only));
  // A separate connection without statement timeout: migrations and waiting for the lock may take long.
  const unlimited = openWithoutTimeout(database.servers);
  try {
    return await unlimited.transaction(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(tx);
      return applyPending(tx, version, only);
    });
  } finally {
    await unlimited.close();
  }
}

async function applyPending(
  tx: Db,
  version: string | undefined,
  only: readonly string[] | undefined,
): Promise<string[]> {
  await sql`create table if not exists schema_migration (name text primary key, applied_at bigint not null)`.execute(
    tx,
  );
  const { rows } =
    await sql<AppliedMigration>`select * from schema_migration order by applied_at, name`.execute(tx);
  const known = new Set(timeline.map(({ name }) => name));
  const unknown = rows.filter(({ name }) => !known.has(name));
  if (unknown.length > 0) throw new NewerSchema(unknown, version);
  const applied = new Set(rows.map(({ name }) => name));
  const pending = timeline.filter(({ name }) => !applied.has(name) && (only?.includes(name) ?? true));
  for (const { name, statements, fill } of pending) {
    for (const statement of statements) await sql.raw(statement).execute(tx);
    await fill?.(tx);
    await sql`insert into schema_migration (name, applied_at) values (${name}, ${Date.now()})`.execute(tx);
  }
  // Afterwards: the column comes with one of the migrations.
  for (const { name } of pending)
    await sql`update schema_migration set version = ${version ?? null} where name = ${name}`.execute(tx);
  return pending.map(({ name }) => name);
}

/**
 * Compares the schema with this version, for `signet doctor`.
 * @returns migrations to be applied, and applied ones that only a newer version knows
 */
export async function schemaState(database: Database): Promise<{ missing: string[]; unknown: string[] }> {
  const known = timeline.map(({ name }) => name);
  const tables = await database.query.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === "schema_migration")) return { missing: known, unknown: [] };
  const { rows } = await sql<{ name: string }>`select name from schema_migration order by name`.execute(
    database.query,
  );
  const applied = rows.map(({ name }) => name);
  return {
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

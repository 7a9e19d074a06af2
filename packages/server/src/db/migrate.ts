/**
 * Migrates the schema. All pending migrations run in one transaction under an advisory lock: of nodes that start
 * together, one migrates and the others wait.
 */
import { sql } from "kysely";
import { timeline } from "./migrations/timeline.ts";
import { type Database, type Db, openWithoutTimeout } from "./open.ts";

/** Any constant, the same on every node. */
export const MIGRATION_LOCK = 7_346_385_401;

/** @returns the names of the migrations that this call applied, oldest first. */
export async function migrate(database: Database): Promise<string[]> {
  if (database.kind === "sqlite") return database.transaction(applyPending);
  // A separate connection without statement timeout: migrations and waiting for the lock may take long.
  const unlimited = openWithoutTimeout(database.url);
  try {
    return await unlimited.transaction(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(tx);
      return applyPending(tx);
    });
  } finally {
    await unlimited.close();
  }
}

async function applyPending(tx: Db): Promise<string[]> {
  const pending = await pendingMigrations(tx);
  for (const migration of pending) {
    for (const statement of migration.statements) await sql.raw(statement).execute(tx);
    await sql`insert into schema_migration (name, applied_at) values (${migration.name}, ${Date.now()})`.execute(
      tx,
    );
  }
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

async function pendingMigrations(tx: Db) {
  await sql`create table if not exists schema_migration (name text primary key, applied_at bigint not null)`.execute(
    tx,
  );
  const { rows } = await sql<{ name: string }>`select name from schema_migration`.execute(tx);
  const applied = new Set(rows.map(({ name }) => name));
  return timeline.filter(({ name }) => !applied.has(name));
}

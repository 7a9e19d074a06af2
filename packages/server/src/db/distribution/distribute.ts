/** Distributes a database by organisation, over the nodes of a Citus cluster. */
import { sql } from "kysely";
import { MIGRATION_LOCK } from "../migrate.ts";
import { type Database, type Db, openWithoutTimeout } from "../open.ts";
import { type Catalogue, readCatalogue } from "./catalogue.ts";
import { faultsOf } from "./faults.ts";
import { hasCitus } from "./has-citus.ts";
import { referenceTables, tablesByOrganisation } from "./tables.ts";

const MEMBER_ACCOUNT = "membership_home_org_id_user_id_fkey";
const AGENT_KEY = "agent_key_thumbprint";

/**
 * What one PostgreSQL keeps beside the code, and several nodes cannot: that a member's account exists, which may be another
 * organisation's (leaving.store.ts and insertMembership keep it), and that a key is one agent's (agent_key_claim).
 */
export const releasing: readonly string[] = [
  "insert into agent_key_claim (kid, org_id) select kid, org_id from agent_key on conflict do nothing",
  `drop index if exists ${AGENT_KEY}`,
  `alter table membership drop constraint if exists ${MEMBER_ACCOUNT}`,
];

export async function release(db: Db): Promise<void> {
  for (const statement of releasing) await sql.raw(statement).execute(db);
}

export class CannotDistribute extends Error {
  constructor(reasons: readonly string[]) {
    super(`the database can't be distributed by organisation: ${reasons.join("; ")}`);
    this.name = "CannotDistribute";
  }
}

/**
 * What is still to be done, in order. What is distributed already is left out: an interrupted run goes on where it was.
 * @throws CannotDistribute where a table, a unique key or a reference is over several organisations
 */
export async function distributionStatements(database: Database): Promise<string[]> {
  if (database.kind !== "postgres") throw new CannotDistribute(["it is SQLite (DATABASE_URL)"]);
  const catalogue = released(await readCatalogue(database.query));
  const faults = faultsOf(catalogue);
  if (faults.length > 0) throw new CannotDistribute(faults);
  const done = await distributedTables(database.query);
  const missing = [
    ...referenceTables.map((table) => ({ table, by: `create_reference_table('${table}')` })),
    ...referredFirst(catalogue).map(([table, column]) => {
      const group = table === "organisation" ? "none" : "organisation";
      return { table, by: `create_distributed_table('${table}', '${column}', colocate_with => '${group}')` };
    }),
  ].filter(({ table }) => !done.includes(table));
  return missing.length === 0 ? [] : [...releasing, ...missing.map(({ by }) => `select ${by}`)];
}

/** As it is without what `releasing` takes away. */
const released = ({ uniqueKeys, references, ...others }: Catalogue): Catalogue => ({
  ...others,
  uniqueKeys: uniqueKeys.filter(({ name }) => name !== AGENT_KEY),
  references: references.filter(({ name }) => name !== MEMBER_ACCOUNT),
});

/** A table may only refer to one that is distributed as it is. */
function referredFirst({ references }: Catalogue): typeof tablesByOrganisation {
  const ordered: Array<(typeof tablesByOrganisation)[number]> = [];
  const names = new Set<string>();
  for (let left = [...tablesByOrganisation]; left.length > 0; ) {
    const isReady = (table: string) =>
      references.every(({ from, to }) => from !== table || to === table || names.has(to));
    const ready = left.filter(([table]) => isReady(table));
    if (ready.length === 0) throw new CannotDistribute(["its tables refer to each other in a circle"]);
    ordered.push(...ready);
    for (const [table] of ready) names.add(table);
    left = left.filter(([table]) => !names.has(table));
  }
  return ordered;
}

async function distributedTables(db: Db): Promise<string[]> {
  if (!(await hasCitus(db))) return [];
  const { rows } = await sql<{
    table: string;
  }>`select logicalrelid::text as table from pg_dist_partition`.execute(db);
  return rows.map(({ table }) => table);
}

/**
 * Runs the statements, each for itself: a table that holds much takes long, and stays done.
 * @param onDone called after each
 * @throws CannotDistribute
 */
export async function distribute(database: Database, onDone: (statement: string) => void): Promise<string[]> {
  const statements = await distributionStatements(database);
  if (database.kind !== "postgres") return statements;
  if (!(await hasCitus(database.query)))
    throw new CannotDistribute(["it has no Citus: run create extension citus there, and add the workers"]);
  const unlimited = openWithoutTimeout(database.servers);
  try {
    for (const statement of statements) {
      await unlimited.transaction(async (tx) => {
        // No migration meanwhile.
        await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(tx);
        await sql.raw(statement).execute(tx);
      });
      onDone(statement);
    }
  } finally {
    await unlimited.close();
  }
  return statements;
}

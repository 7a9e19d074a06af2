/** Signing pools as rows. */

import type { AgentAlg } from "@signet/protocol/agent-signature";
import type { Threshold } from "@signet/protocol/threshold/group";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { SigningPoolTable } from "../../db/tables/sovereign-signing.ts";
import { deleteClaims } from "./agent-key.store.ts";
import type { IssuerMode, SigningPool } from "./signing-pool.ts";

const selectPool = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db
    .selectFrom("signing_pool")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("id")),
);

export async function findPool(db: Db, orgId: string, id: string): Promise<SigningPool | undefined> {
  const [row] = await selectPool(db, { orgId, id });
  return row && toPool(row);
}

/**
 * Prevents a deletion until the transaction ends. The lock is shared, so that changes of applications that name the pool
 * can't deadlock.
 * @returns its algorithms; undefined when there is no such pool
 */
export async function lockPool(tx: Db, orgId: string, id: string): Promise<readonly AgentAlg[] | undefined> {
  const found = tx.selectFrom("signing_pool").select("algs").where("org_id", "=", orgId).where("id", "=", id);
  // SQLite runs one writing transaction at a time.
  const locked = isPostgres(tx) ? found.forShare() : found;
  const row = await locked.executeTakeFirst();
  return row && (JSON.parse(row.algs) as AgentAlg[]);
}

/** Also disabled ones, oldest first; an organisation has few. */
export const listAllPools = async (db: Db, orgId: string): Promise<SigningPool[]> =>
  (await poolsOf(db, orgId).execute()).map(toPool);

const toPool = (row: SigningPoolTable): SigningPool => ({
  ...toRecord(row),
  issuerMode: row.issuer_mode as IssuerMode,
  algs: JSON.parse(row.algs) as AgentAlg[],
  trustedRoots: JSON.parse(row.trusted_roots) as string[],
  requireX5c: row.require_x5c === 1,
  threshold: row.threshold === null ? null : (JSON.parse(row.threshold) as Threshold),
});

const toPoolRow = ({
  algs,
  trustedRoots,
  requireX5c,
  threshold,
  ...members
}: SigningPool): SigningPoolTable => ({
  ...toRow(members),
  algs: JSON.stringify(algs),
  trusted_roots: JSON.stringify(trustedRoots),
  require_x5c: requireX5c ? 1 : 0,
  threshold: threshold && JSON.stringify(threshold),
});

export async function insertPool(db: Db, pool: SigningPool): Promise<void> {
  await db.insertInto("signing_pool").values(toPoolRow(pool)).execute();
}

/**
 * Serialises changes of a pool's agents: whether a new key is active immediately depends on the others.
 * @returns undefined when there is no such pool
 */
export async function lockPoolForUpdate(tx: Db, orgId: string, id: string): Promise<SigningPool | undefined> {
  const row = await tx
    .updateTable("signing_pool")
    .set((eb) => ({ name: eb.ref("name") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && toPool(row);
}

export async function countPools(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom("signing_pool")
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/**
 * Optimistic: succeeds if `pool.version` is the stored version + 1. What a pool never changes stays as stored.
 * @returns false when the pool was deleted or changed meanwhile
 */
export function replacePool(db: Db, pool: SigningPool): Promise<boolean> {
  const { org_id, id, issuer_mode, threshold, created_at, created_by, disabled_at, ...changed } =
    toPoolRow(pool);
  const version = pool.version - 1;
  return affectsAny(
    db
      .updateTable("signing_pool")
      .set(changed)
      .where((eb) => allOf(eb, { org_id, id, version })),
  );
}

/** Deletes the pool with its agents, keys and requests; compromised keys are remembered. */
export async function deletePoolRow(tx: Db, orgId: string, id: string): Promise<void> {
  // Locks agents first, like `deactivateAgent`, so that a simultaneous report of a compromise is seen.
  const agents = tx.selectFrom("signing_agent").select("id").where("org_id", "=", orgId);
  await tx
    .updateTable("signing_agent")
    .set((eb) => ({ name: eb.ref("name") }))
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: id }))
    .where("id", "in", lockedInOrder(tx, agents.where("pool_id", "=", id), "id"))
    .execute();
  // Requests before keys, like a signature, or the two could deadlock.
  const requests = tx.selectFrom("signing_request").select("id").where("org_id", "=", orgId);
  await tx
    .deleteFrom("signing_request")
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: id }))
    .where("id", "in", lockedInOrder(tx, requests.where("pool_id", "=", id), "id"))
    .execute();
  const keysOfPool = tx.selectFrom("agent_key").select("kid").where("org_id", "=", orgId);
  const keys = await tx
    .deleteFrom("agent_key")
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: id }))
    .where("kid", "in", lockedInOrder(tx, keysOfPool.where("pool_id", "=", id), "kid"))
    .returning(["kid", "compromised_at"])
    .execute();
  for (const { kid, compromised_at } of keys)
    if (compromised_at !== null)
      await tx
        .insertInto("compromised_agent_key")
        .values({ org_id: orgId, kid, compromised_at })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  const free = keys.flatMap(({ kid, compromised_at }) => (compromised_at === null ? kid : []));
  await deleteClaims(tx, orgId, free);
  await tx.deleteFrom("signing_pool").where("org_id", "=", orgId).where("id", "=", id).execute();
}

/** The pool's applications by name. @param poolId a UUID */
export async function listPoolApplications(
  db: Db,
  { orgId, poolId, limit }: { orgId: string; poolId: string; limit: number },
): Promise<Array<{ id: string; name: string }>> {
  return db
    .selectFrom("application")
    .select(["id", "name"])
    .where("org_id", "=", orgId)
    .where("settings", "like", `%"signingPoolId":"${poolId}"%`)
    .orderBy("name")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Whether one of the pool's applications has a profile of FAPI 2.0. @param poolId a UUID */
export async function servesProfile(db: Db, orgId: string, poolId: string): Promise<boolean> {
  const row = await db
    .selectFrom("application")
    .select("id")
    .where("org_id", "=", orgId)
    .where("settings", "like", `%"signingPoolId":"${poolId}"%`)
    .where("settings", "like", `%"securityProfile":"fapi2%`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns false when there is no such pool, or nothing changed */
export const setPoolDisabled = (
  db: Db,
  { orgId, id }: { orgId: string; id: string },
  disabledAt: number | null,
  now: number,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("signing_pool")
      .set((eb) => ({ disabled_at: disabledAt, updated_at: now, version: eb("version", "+", 1) }))
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("disabled_at", disabledAt === null ? "is not" : "is", null),
  );

/** @param page.after the last id of the previous page */
export const listPools = async (
  db: Db,
  orgId: string,
  { limit, after = "" }: { limit: number; after?: string },
): Promise<SigningPool[]> =>
  (await poolsOf(db, orgId).where("id", ">", after).limit(limit).execute()).map(toPool);

const poolsOf = (db: Db, orgId: string) =>
  db.selectFrom("signing_pool").selectAll().where("org_id", "=", orgId).orderBy("id");

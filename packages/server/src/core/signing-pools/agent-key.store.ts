/** The public keys of signing agents as rows. */

import type { AgentAlg } from "@signet/protocol/agent-signature";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { AgentKeyTable } from "../../db/tables/sovereign-signing.ts";
import type { AgentKey } from "./agent-key.ts";

const keysOf = (db: Db, orgId: string) =>
  db.selectFrom("agent_key").selectAll().where("org_id", "=", orgId).orderBy("created_at").orderBy("kid");

/** Without the group keys of threshold pools, which no agent has. */
const ownKeysOf = (db: Db, orgId: string) => keysOf(db, orgId).where("ceremony_id", "is", null);

/** The keys of all pools of the organisation, retired or not, without compromised ones. */
export const listUncompromisedKeys = async (db: Db, orgId: string): Promise<AgentKey[]> =>
  (await keysOf(db, orgId).where("compromised_at", "is", null).execute()).map(toKey);

/** In any state, oldest first: filter by `agentKeyState`. */
export const listPoolKeys = async (db: Db, orgId: string, poolId: string): Promise<AgentKey[]> =>
  (await keysOf(db, orgId).where("pool_id", "=", poolId).execute()).map(toKey);

type ActiveKeys = { orgId: string; agentId: string; now: number };

const selectActiveKeys = prepared((db, value: Parameter<ActiveKeys>) =>
  db
    .selectFrom("agent_key")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: value("orgId"), agent_id: value("agentId") }))
    .where("ceremony_id", "is", null)
    .where("compromised_at", "is", null)
    .where("active_from", "<=", value("now"))
    .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", value("now"))]))
    .orderBy("created_at")
    .orderBy("kid"),
);

/** Oldest first; the caller knows whether the agent is active. */
export async function listActiveAgentKeys(db: Db, wanted: ActiveKeys): Promise<AgentKey[]> {
  return (await selectActiveKeys(db, wanted)).map(toKey);
}

/** In any state. */
export async function findAgentKey(db: Db, orgId: string, kid: string): Promise<AgentKey | undefined> {
  const row = await db
    .selectFrom("agent_key")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, kid }))
    .executeTakeFirst();
  return row && toKey(row);
}

/** Raises `last_token_exp`, never lowers it. @param exp milliseconds */
export async function recordTokenExp(
  db: Db,
  { orgId, kid, exp }: { orgId: string; kid: string; exp: number },
): Promise<void> {
  await db
    .updateTable("agent_key")
    .set({ last_token_exp: exp })
    .where((eb) => allOf(eb, { org_id: orgId, kid }))
    .where((eb) => eb.or([eb("last_token_exp", "is", null), eb("last_token_exp", "<", exp)]))
    .execute();
}

const toKey = ({ public_jwk, x5c, ...row }: AgentKeyTable): AgentKey => ({
  ...toRecord(row),
  alg: row.alg as AgentAlg,
  publicJwk: JSON.parse(public_jwk) as AgentKey["publicJwk"],
  x5c: JSON.parse(x5c) as string[],
});

/** In any state, oldest first. */
export const listAgentKeys = async (db: Db, orgId: string, agentId: string): Promise<AgentKey[]> =>
  (await ownKeysOf(db, orgId).where("agent_id", "=", agentId).execute()).map(toKey);

/** By agent, in any state, oldest first. */
export async function listKeysByAgent(
  db: Db,
  orgId: string,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, AgentKey[]>> {
  if (agentIds.length === 0) return new Map();
  const rows = await ownKeysOf(db, orgId).where("agent_id", "in", agentIds).execute();
  return Map.groupBy(rows.map(toKey), ({ agentId }) => agentId);
}

/**
 * @param tx roll it back when the key is refused
 * @returns false when the key is registered in any organisation, or was compromised in a deleted pool
 */
export async function insertAgentKey(tx: Db, { publicJwk, x5c, ...key }: AgentKey): Promise<boolean> {
  if (!(await claimKey(tx, key))) return false;
  return hasRow(
    tx
      .insertInto("agent_key")
      .values({ ...toRow(key), public_jwk: JSON.stringify(publicJwk), x5c: JSON.stringify(x5c) })
      .onConflict((conflict) => conflict.doNothing())
      .returning("kid"),
  );
}

/** @returns false when the key is somebody's, in any organisation. Waits for a simultaneous deletion of a pool with it. */
export const claimKey = (tx: Db, { orgId, kid }: Pick<AgentKey, "orgId" | "kid">): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("agent_key_claim")
      .values({ kid, org_id: orgId })
      .onConflict((conflict) => conflict.doNothing())
      .returning("kid"),
  );

/** Whoever has the key may register it again. Those of compromised keys stay: a stolen key is worthless everywhere. */
export async function deleteClaims(tx: Db, orgId: string, kids: readonly string[]): Promise<void> {
  if (kids.length === 0) return;
  await tx.deleteFrom("agent_key_claim").where("org_id", "=", orgId).where("kid", "in", kids).execute();
}

/** The agent's keys sign nothing new after `at`; an earlier time stays. @param only keys of this algorithm */
export async function retireKeys(
  db: Db,
  { orgId, agentId, at, only }: { orgId: string; agentId: string; at: number; only?: string },
): Promise<void> {
  const keys = db.selectFrom("agent_key").select("kid").where("org_id", "=", orgId);
  await db
    .updateTable("agent_key")
    .set({ retiring_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
    .where("ceremony_id", "is", null)
    .where("kid", "in", lockedInOrder(db, keys.where("agent_id", "=", agentId), "kid"))
    .$if(only !== undefined, (query) => query.where("alg", "=", only ?? ""))
    .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", at)]))
    .execute();
}

/** @returns false when there is no such key, or it has retired */
export const retireKey = (
  db: Db,
  { orgId, agentId, kid, now }: { orgId: string; agentId: string; kid: string; now: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("agent_key")
      .set({ retiring_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId, kid }))
      .where("ceremony_id", "is", null)
      .where("compromised_at", "is", null)
      .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", now)])),
  );

/** The pool's group keys sign nothing new after `at`. */
export async function retireGroupKeys(
  tx: Db,
  { orgId, poolId, at }: { orgId: string; poolId: string; at: number },
): Promise<void> {
  const keys = tx.selectFrom("agent_key").select("kid").where("org_id", "=", orgId);
  await tx
    .updateTable("agent_key")
    .set({ retiring_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId }))
    .where("ceremony_id", "is not", null)
    .where("kid", "in", lockedInOrder(tx, keys.where("pool_id", "=", poolId), "kid"))
    .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", at)]))
    .execute();
}

/** Other agents have the key's shares now. @returns false unless they were from `from`, and the key is still good */
export const moveGroupKey = (
  tx: Db,
  { orgId, kid, from, to, now }: { orgId: string; kid: string; from: string; to: string; now: number },
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("agent_key")
      .set({ ceremony_id: to })
      .where((eb) => allOf(eb, { org_id: orgId, kid, ceremony_id: from }))
      .where("compromised_at", "is", null)
      .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", now)])),
  );

/** Removes the pool's group keys from the JWKS, retired or not: who has enough shares could sign with them. */
export async function compromiseGroupKeys(
  tx: Db,
  { orgId, poolId, now }: { orgId: string; poolId: string; now: number },
): Promise<string[]> {
  const keys = tx.selectFrom("agent_key").select("kid").where("org_id", "=", orgId);
  const rows = await tx
    .updateTable("agent_key")
    .set({ compromised_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId }))
    .where("ceremony_id", "is not", null)
    .where("kid", "in", lockedInOrder(tx, keys.where("pool_id", "=", poolId), "kid"))
    .where("compromised_at", "is", null)
    .returning("kid")
    .execute();
  return rows.map(({ kid }) => kid);
}

/** Removes the agent's keys from the JWKS, retired or not. */
export async function compromiseKeys(
  db: Db,
  { orgId, agentId, now }: { orgId: string; agentId: string; now: number },
): Promise<string[]> {
  const keys = db.selectFrom("agent_key").select("kid").where("org_id", "=", orgId);
  const rows = await db
    .updateTable("agent_key")
    .set({ compromised_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
    .where("ceremony_id", "is", null)
    .where("kid", "in", lockedInOrder(db, keys.where("agent_id", "=", agentId), "kid"))
    .where("compromised_at", "is", null)
    .returning("kid")
    .execute();
  return rows.map(({ kid }) => kid);
}

/**
 * Compromised keys stay, so that they are never registered again.
 * @returns how many were deleted, at most `limit`
 */
export async function deleteRetiredAgentKeys(db: Db, before: number, limit: number): Promise<number> {
  const rows = await db
    .selectFrom("agent_key")
    .select(["org_id", "kid"])
    .where("compromised_at", "is", null)
    .where("retiring_at", "<", before)
    .where((eb) => eb.or([eb("last_token_exp", "is", null), eb("last_token_exp", "<", before)]))
    .limit(limit)
    .execute();
  for (const { org_id, kid } of rows) {
    const deleting = db
      .deleteFrom("agent_key")
      .where((eb) => allOf(eb, { org_id, kid }))
      // It may have been reported as compromised meanwhile.
      .where("compromised_at", "is", null);
    if (await affectsAny(deleting)) await deleteClaims(db, org_id, [kid]);
  }
  return rows.length;
}

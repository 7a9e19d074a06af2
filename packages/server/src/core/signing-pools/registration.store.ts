import type { Db } from "../../db/open.ts";
import type { AgentKey, SigningAgent } from "./agent-key.ts";
import type { SigningPool } from "./signing-pool.ts";
import { toAgent, toKey, toPool } from "./signing-pools.store.ts";

export async function insertPool(db: Db, pool: SigningPool): Promise<void> {
  await db
    .insertInto("signing_pool")
    .values({
      org_id: pool.orgId,
      id: pool.id,
      name: pool.name,
      issuer_mode: pool.issuerMode,
      algs: JSON.stringify(pool.algs),
      max_token_lifetime_seconds: pool.maxTokenLifetimeSeconds,
      token_wait_seconds: pool.tokenWaitSeconds,
      key_publish_delay_seconds: pool.keyPublishDelaySeconds,
      max_pending: pool.maxPending,
      trusted_roots: JSON.stringify(pool.trustedRoots),
      require_x5c: pool.requireX5c ? 1 : 0,
      created_at: pool.createdAt,
      created_by: pool.createdBy,
      updated_at: pool.updatedAt,
      disabled_at: pool.disabledAt,
      version: pool.version,
    })
    .execute();
}

/**
 * Who changes a pool's agents waits for whoever else does: which key is active depends on those that are there.
 * @returns undefined when there is none
 */
export async function holdPool(tx: Db, orgId: string, id: string): Promise<SigningPool | undefined> {
  const row = await tx
    .updateTable("signing_pool")
    .set((eb) => ({ name: eb.ref("name") }))
    .where("org_id", "=", orgId)
    .where("id", "=", id)
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
 * Everything that may be changed, by one statement that looks at the version before.
 * @returns false when it is gone, or somebody else was faster
 */
export async function replacePool(db: Db, pool: SigningPool): Promise<boolean> {
  const row = await db
    .updateTable("signing_pool")
    .set({
      name: pool.name,
      algs: JSON.stringify(pool.algs),
      max_token_lifetime_seconds: pool.maxTokenLifetimeSeconds,
      token_wait_seconds: pool.tokenWaitSeconds,
      key_publish_delay_seconds: pool.keyPublishDelaySeconds,
      max_pending: pool.maxPending,
      trusted_roots: JSON.stringify(pool.trustedRoots),
      require_x5c: pool.requireX5c ? 1 : 0,
      updated_at: pool.updatedAt,
      version: pool.version,
    })
    .where("org_id", "=", pool.orgId)
    .where("id", "=", pool.id)
    .where("version", "=", pool.version - 1)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** With its agents, their keys, and what waits to be signed; which keys were compromised is kept. */
export async function deletePoolRow(tx: Db, orgId: string, id: string): Promise<void> {
  // In the order of an agent's end, so that one that is just reported as compromised is seen as such.
  await tx
    .updateTable("signing_agent")
    .set((eb) => ({ name: eb.ref("name") }))
    .where("org_id", "=", orgId)
    .where("pool_id", "=", id)
    .execute();
  // Requests before keys, as a signature is written: else each could wait for the other.
  await tx.deleteFrom("signing_request").where("org_id", "=", orgId).where("pool_id", "=", id).execute();
  const keys = await tx
    .deleteFrom("agent_key")
    .where("org_id", "=", orgId)
    .where("pool_id", "=", id)
    .returning(["kid", "compromised_at"])
    .execute();
  for (const { kid, compromised_at } of keys)
    if (compromised_at !== null)
      await tx
        .insertInto("compromised_agent_key")
        .values({ org_id: orgId, kid, compromised_at })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  await tx.deleteFrom("signing_pool").where("org_id", "=", orgId).where("id", "=", id).execute();
}

/** The applications whose tokens the pool signs, by name, at most `limit`. @param poolId a UUID */
export async function applicationsOfPool(
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

/** @returns false when there is none, or it was so before */
export async function setPoolDisabled(
  db: Db,
  { orgId, id }: { orgId: string; id: string },
  disabledAt: number | null,
  now: number,
): Promise<boolean> {
  const row = await db
    .updateTable("signing_pool")
    .set((eb) => ({ disabled_at: disabledAt, updated_at: now, version: eb("version", "+", 1) }))
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("disabled_at", disabledAt === null ? "is not" : "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @param page.after the id that the page before ended with */
export async function listPools(
  db: Db,
  orgId: string,
  page: { limit: number; after?: string },
): Promise<SigningPool[]> {
  const rows = await db
    .selectFrom("signing_pool")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(page.after !== undefined, (query) => query.where("id", ">", page.after ?? ""))
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return rows.map(toPool);
}

/** Deactivated ones too. @param page.after the id that the page before ended with */
export async function listAgents(
  db: Db,
  orgId: string,
  page: { limit: number; after?: string; poolId?: string },
): Promise<SigningAgent[]> {
  const rows = await db
    .selectFrom("signing_agent")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(page.poolId !== undefined, (query) => query.where("pool_id", "=", page.poolId ?? ""))
    .$if(page.after !== undefined, (query) => query.where("id", ">", page.after ?? ""))
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return rows.map(toAgent);
}

export async function countWorkingAgents(db: Db, orgId: string, poolId: string): Promise<number> {
  const row = await db
    .selectFrom("signing_agent")
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where("deactivated_at", "is", null)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** How many agents of each pool were there since then, and how many it has; a pool without any is not in it. */
export async function agentsOfPools(
  db: Db,
  orgId: string,
  since: number,
): Promise<ReadonlyMap<string, { agents: number; live: number }>> {
  const rows = await db
    .selectFrom("signing_agent")
    .select((eb) => [
      "pool_id",
      eb.fn.countAll<number | string>().as("agents"),
      eb.fn.sum<number | string>(eb.case().when("last_seen_at", ">", since).then(1).else(0).end()).as("live"),
    ])
    .where("org_id", "=", orgId)
    .where("deactivated_at", "is", null)
    .groupBy("pool_id")
    .execute();
  return new Map(
    rows.map(({ pool_id, agents, live }) => [pool_id, { agents: Number(agents), live: Number(live) }]),
  );
}

export async function insertAgent(db: Db, agent: SigningAgent, apiKeyHash: string): Promise<void> {
  await db
    .insertInto("signing_agent")
    .values({
      org_id: agent.orgId,
      id: agent.id,
      pool_id: agent.poolId,
      name: agent.name,
      api_key_hash: apiKeyHash,
      created_at: agent.createdAt,
      created_by: agent.createdBy,
      last_seen_at: agent.lastSeenAt,
      deactivated_at: agent.deactivatedAt,
      compromised_at: agent.compromisedAt,
    })
    .execute();
}

export type AgentEnding = { orgId: string; id: string; now: number };

/** Keeps whoever would end it waiting until the transaction ends. */
export async function holdAgent(tx: Db, orgId: string, id: string): Promise<void> {
  await tx
    .updateTable("signing_agent")
    .set((eb) => ({ name: eb.ref("name") }))
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}

/** @returns false when there is none, or it was deactivated before */
export async function deactivateAgentRow(db: Db, { orgId, id, now }: AgentEnding): Promise<boolean> {
  const row = await db
    .updateTable("signing_agent")
    .set({ deactivated_at: now })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("deactivated_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns false when there is none, or it was known before */
export async function compromiseAgentRow(db: Db, { orgId, id, now }: AgentEnding): Promise<boolean> {
  const row = await db
    .updateTable("signing_agent")
    .set({ compromised_at: now })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("compromised_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** All that are kept, oldest first. */
export async function listKeysOfAgent(db: Db, orgId: string, agentId: string): Promise<AgentKey[]> {
  const rows = await db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("agent_id", "=", agentId)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  return rows.map(toKey);
}

/**
 * @param tx to be rolled back when the key is not taken
 * @returns false when the key is registered, here or in any other organisation, or was compromised in a pool that is deleted
 */
export async function insertAgentKey(tx: Db, key: AgentKey): Promise<boolean> {
  const row = await tx
    .insertInto("agent_key")
    .values({
      org_id: key.orgId,
      kid: key.kid,
      pool_id: key.poolId,
      agent_id: key.agentId,
      public_jwk: JSON.stringify(key.publicJwk),
      alg: key.alg,
      x5c: JSON.stringify(key.x5c),
      created_at: key.createdAt,
      active_from: key.activeFrom,
      retiring_at: key.retiringAt,
      last_token_exp: key.lastTokenExp,
      compromised_at: key.compromisedAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("kid")
    .executeTakeFirst();
  // Looked for afterwards: a pool that is just being deleted has held this key up until then.
  return row !== undefined && !(await isKnownAsCompromised(tx, key.kid));
}

/** In any organisation: what is stolen from one is in nobody's hands alone. */
async function isKnownAsCompromised(db: Db, kid: string): Promise<boolean> {
  const row = await db
    .selectFrom("compromised_agent_key")
    .select("kid")
    .where("kid", "=", kid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** From then on they sign nothing new; those that retire sooner keep their time. @param only its keys of that algorithm */
export async function retireKeys(
  db: Db,
  { orgId, agentId, at, only }: { orgId: string; agentId: string; at: number; only?: string },
): Promise<void> {
  await db
    .updateTable("agent_key")
    .set({ retiring_at: at })
    .where("org_id", "=", orgId)
    .where("agent_id", "=", agentId)
    .$if(only !== undefined, (query) => query.where("alg", "=", only ?? ""))
    .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", at)]))
    .execute();
}

/** One key signs nothing new from then on. @returns false when there is none, or it had retired before */
export async function retireKey(
  db: Db,
  { orgId, agentId, kid, now }: { orgId: string; agentId: string; kid: string; now: number },
): Promise<boolean> {
  const row = await db
    .updateTable("agent_key")
    .set({ retiring_at: now })
    .where("org_id", "=", orgId)
    .where("agent_id", "=", agentId)
    .where("kid", "=", kid)
    .where("compromised_at", "is", null)
    .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", now)]))
    .returning("kid")
    .executeTakeFirst();
  return row !== undefined;
}

/** They leave the JWKS now, retired or not. */
export async function compromiseKeys(
  db: Db,
  { orgId, agentId, now }: { orgId: string; agentId: string; now: number },
): Promise<string[]> {
  const rows = await db
    .updateTable("agent_key")
    .set({ compromised_at: now })
    .where("org_id", "=", orgId)
    .where("agent_id", "=", agentId)
    .where("compromised_at", "is", null)
    .returning("kid")
    .execute();
  return rows.map(({ kid }) => kid);
}

/**
 * Keys that have retired so long ago; a compromised one stays, so that it is never registered again.
 * @returns how many were removed, at most `limit`
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
  for (const { org_id, kid } of rows)
    await db
      .deleteFrom("agent_key")
      .where("org_id", "=", org_id)
      .where("kid", "=", kid)
      // It may have become known meanwhile that it was stolen.
      .where("compromised_at", "is", null)
      .execute();
  return rows.length;
}

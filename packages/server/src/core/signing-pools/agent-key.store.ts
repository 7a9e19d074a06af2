/** The public keys of signing agents as rows. */
import type { AgentAlg } from "@signet/protocol/agent-signature";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { AgentKeyTable } from "../../db/tables/sovereign-signing.ts";
import type { AgentKey } from "./agent-key.ts";

/** The keys of all pools of the organisation, retired or not, without compromised ones. */
export async function listUncompromisedKeys(db: Db, orgId: string): Promise<AgentKey[]> {
  const rows = await db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("compromised_at", "is", null)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  return rows.map(toKey);
}

/** In any state, oldest first: filter by `agentKeyState`. */
export async function listPoolKeys(db: Db, orgId: string, poolId: string): Promise<AgentKey[]> {
  const rows = await db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  return rows.map(toKey);
}

type ActiveKeys = { orgId: string; agentId: string; now: number };

const selectActiveKeys = prepared((db, value: Parameter<ActiveKeys>) =>
  db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("agent_id", "=", value("agentId"))
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
    .where("org_id", "=", orgId)
    .where("kid", "=", kid)
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
    .where("org_id", "=", orgId)
    .where("kid", "=", kid)
    .where((eb) => eb.or([eb("last_token_exp", "is", null), eb("last_token_exp", "<", exp)]))
    .execute();
}

export function toKey(row: AgentKeyTable): AgentKey {
  return {
    orgId: row.org_id,
    kid: row.kid,
    poolId: row.pool_id,
    agentId: row.agent_id,
    publicJwk: JSON.parse(row.public_jwk) as AgentKey["publicJwk"],
    alg: row.alg as AgentAlg,
    x5c: JSON.parse(row.x5c) as string[],
    createdAt: row.created_at,
    activeFrom: row.active_from,
    retiringAt: row.retiring_at,
    lastTokenExp: row.last_token_exp,
    compromisedAt: row.compromised_at,
  };
}

/** In any state, oldest first. */
export async function listAgentKeys(db: Db, orgId: string, agentId: string): Promise<AgentKey[]> {
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
 * @param tx roll it back when the key is refused
 * @returns false when the key is registered in any organisation, or was compromised in a deleted pool
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
  // After the insert, which waits for a simultaneous deletion of a pool with this key.
  return row !== undefined && !(await isKnownAsCompromised(tx, key.kid));
}

/** In any organisation: a stolen key is worthless everywhere. */
async function isKnownAsCompromised(db: Db, kid: string): Promise<boolean> {
  const row = await db
    .selectFrom("compromised_agent_key")
    .select("kid")
    .where("kid", "=", kid)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The agent's keys sign nothing new after `at`; an earlier time stays. @param only keys of this algorithm */
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

/** @returns false when there is no such key, or it has retired */
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

/** Removes the agent's keys from the JWKS, retired or not. */
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
  for (const { org_id, kid } of rows)
    await db
      .deleteFrom("agent_key")
      .where("org_id", "=", org_id)
      .where("kid", "=", kid)
      // It may have been reported as compromised meanwhile.
      .where("compromised_at", "is", null)
      .execute();
  return rows.length;
}

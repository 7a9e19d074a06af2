/** Signing agents as rows. */
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { SigningAgentTable } from "../../db/tables/sovereign-signing.ts";
import type { SigningAgent } from "./agent-key.ts";

const selectAgentByApiKey = prepared((db, value: Parameter<{ orgId: string; hash: string }>) =>
  db
    .selectFrom("signing_agent")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("api_key_hash", "=", value("hash"))
    .where("deactivated_at", "is", null),
);

/** Active agents only. @param hash SHA-256 of the API key, base64url */
export async function findAgentByApiKey(
  db: Db,
  orgId: string,
  hash: string,
): Promise<SigningAgent | undefined> {
  const [row] = await selectAgentByApiKey(db, { orgId, hash });
  return row && toAgent(row);
}

/** Also finds deactivated agents. */
export async function findAgent(db: Db, orgId: string, id: string): Promise<SigningAgent | undefined> {
  const row = await db
    .selectFrom("signing_agent")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toAgent(row);
}

/** Writes only if the stored time is at least `every` older. */
export async function recordAgentSeen(
  db: Db,
  { orgId, id, now, every }: { orgId: string; id: string; now: number; every: number },
): Promise<void> {
  await db
    .updateTable("signing_agent")
    .set({ last_seen_at: now })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where((eb) => eb.or([eb("last_seen_at", "is", null), eb("last_seen_at", "<=", now - every)]))
    .execute();
}

/** Whether an active agent of the pool was seen since then. */
export async function isAgentSeen(
  db: Db,
  { orgId, poolId, since }: { orgId: string; poolId: string; since: number },
): Promise<boolean> {
  const row = await db
    .selectFrom("signing_agent")
    .select("id")
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where("deactivated_at", "is", null)
    .where("last_seen_at", ">", since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function toAgent(row: SigningAgentTable): SigningAgent {
  return {
    orgId: row.org_id,
    id: row.id,
    poolId: row.pool_id,
    name: row.name,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastSeenAt: row.last_seen_at,
    deactivatedAt: row.deactivated_at,
    compromisedAt: row.compromised_at,
  };
}

/** Also deactivated ones. @param page.after the last id of the previous page */
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

export async function countActiveAgents(db: Db, orgId: string, poolId: string): Promise<number> {
  const row = await db
    .selectFrom("signing_agent")
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where("deactivated_at", "is", null)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** By pool: its active agents, and how many of them were seen since then. Pools without agents are left out. */
export async function countAgentsByPool(
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

export type AgentDeactivation = { orgId: string; id: string; now: number };

/** Blocks a deactivation until the transaction ends. */
export async function lockAgent(tx: Db, orgId: string, id: string): Promise<void> {
  await tx
    .updateTable("signing_agent")
    .set((eb) => ({ name: eb.ref("name") }))
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}

/** @returns false when there is no such agent, or it was deactivated before */
export async function deactivateAgentRow(db: Db, { orgId, id, now }: AgentDeactivation): Promise<boolean> {
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

/** @returns false when there is no such agent, or it was reported before */
export async function compromiseAgentRow(db: Db, { orgId, id, now }: AgentDeactivation): Promise<boolean> {
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

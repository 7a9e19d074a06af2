/** Signing agents as rows. */

import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { SigningAgentTable } from "../../db/tables/sovereign-signing.ts";
import type { SigningAgent } from "./agent-key.ts";

const selectAgentByApiKey = prepared((db, value: Parameter<{ orgId: string; hash: string }>) =>
  db
    .selectFrom("signing_agent")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: value("orgId"), api_key_hash: value("hash") }))
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
    .where((eb) => allOf(eb, { org_id: orgId, id }))
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
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .where((eb) => eb.or([eb("last_seen_at", "is", null), eb("last_seen_at", "<=", now - every)]))
    .execute();
}

/** Whether an active agent of the pool was seen since then. */
export const isAgentSeen = (
  db: Db,
  { orgId, poolId, since }: { orgId: string; poolId: string; since: number },
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("signing_agent")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId }))
      .where("deactivated_at", "is", null)
      .where("last_seen_at", ">", since)
      .limit(1),
  );

export const toAgent = ({ api_key_hash: _, ...row }: SigningAgentTable): SigningAgent => toRecord(row);

/** Also deactivated ones. @param page.after the last id of the previous page */
export async function listAgents(
  db: Db,
  orgId: string,
  { limit, after = "", poolId }: { limit: number; after?: string; poolId?: string },
): Promise<SigningAgent[]> {
  const rows = await db
    .selectFrom("signing_agent")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(poolId !== undefined, (query) => query.where("pool_id", "=", poolId ?? ""))
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(toAgent);
}

export async function countActiveAgents(db: Db, orgId: string, poolId: string): Promise<number> {
  const row = await db
    .selectFrom("signing_agent")
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId }))
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
    .values(toRow({ ...agent, apiKeyHash }))
    .execute();
}

export type AgentDeactivation = { orgId: string; id: string; now: number };

/** Blocks a deactivation until the transaction ends. */
export async function lockAgent(tx: Db, orgId: string, id: string): Promise<void> {
  await tx
    .updateTable("signing_agent")
    .set((eb) => ({ name: eb.ref("name") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** @returns false when there is no such agent, or it was deactivated before */
export const deactivateAgentRow = (db: Db, { orgId, id, now }: AgentDeactivation): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("signing_agent")
      .set({ deactivated_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("deactivated_at", "is", null),
  );

/** @returns false when there is no such agent, or it was reported before */
export const compromiseAgentRow = (db: Db, { orgId, id, now }: AgentDeactivation): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("signing_agent")
      .set({ compromised_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("compromised_at", "is", null),
  );

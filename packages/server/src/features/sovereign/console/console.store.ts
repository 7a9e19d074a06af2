/** The requests that wait in pools: how many, and the oldest of them. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";

/** Pending requests by pool; pools without any are left out. */
export async function waitingOfPools(
  db: Db,
  orgId: string,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("signing_request")
    .select((eb) => ["pool_id", eb.fn.countAll<number | string>().as("count")])
    .where("org_id", "=", orgId)
    // Spelled as in the partial index.
    .where(sql<boolean>`ended_at is null and state <> 'signed'`)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .groupBy("pool_id")
    .execute();
  return new Map(rows.map(({ pool_id, count }) => [pool_id, Number(count)]));
}

export interface OpenRequest {
  readonly id: string;
  readonly applicationId: string;
  readonly application: string;
  readonly grantType: string;
  readonly state: OpenState;
  /** That has claimed it. */
  readonly agent: { readonly id: string; readonly name: string } | undefined;
  readonly createdAt: number;
}

const openStates = ["pending", "claimed", "challenge", "responded"] as const;
export type OpenState = (typeof openStates)[number];

/** What the pool has to sign or is signing, the oldest first. */
export async function listOpenRequests(
  db: Db,
  pool: { readonly orgId: string; readonly poolId: string; readonly now: number; readonly limit: number },
): Promise<OpenRequest[]> {
  const { orgId, poolId, now, limit } = pool;
  const rows = await db
    .selectFrom("signing_request as request")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "request.org_id")
        .onRef("application.id", "=", "request.application_id"),
    )
    .leftJoin("signing_agent as agent", (join) =>
      join.onRef("agent.org_id", "=", "request.org_id").onRef("agent.id", "=", "request.claimed_by"),
    )
    .select(["request.id", "request.application_id", "request.grant_type", "request.state"])
    .select([
      "request.created_at",
      "application.name as application",
      "agent.id as agent_id",
      "agent.name as agent",
    ])
    .where("request.org_id", "=", orgId)
    .where("request.pool_id", "=", poolId)
    // Spelled as in the partial index.
    .where(sql<boolean>`request.ended_at is null and request.state <> 'signed'`)
    .where("request.expires_at", ">", now)
    .orderBy("request.created_at")
    .orderBy("request.id")
    .limit(limit)
    .execute();
  return rows.flatMap(
    ({ id, application_id, application, grant_type, created_at, agent_id, agent, ...row }) => {
      const state = openStates.find((one) => one === row.state);
      if (!state) return [];
      return {
        ...{ id, applicationId: application_id, application, grantType: grant_type, state },
        agent: agent_id === null || agent === null ? undefined : { id: agent_id, name: agent },
        createdAt: created_at,
      };
    },
  );
}

/** Deactivated ones too. */
export const listAgentNames = (
  db: Db,
  orgId: string,
  poolId: string,
): Promise<Array<{ readonly id: string; readonly name: string }>> =>
  db
    .selectFrom("signing_agent")
    .select(["id", "name"])
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .execute();

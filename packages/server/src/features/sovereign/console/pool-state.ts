/** The status and load of pools and agents, for their pages. */

import { readActivity } from "../../../core/activity/activity.store.ts";
import { HOUR_MS, ofPool } from "../../../core/activity/kinds.ts";
import { AGENT_SEEN_MS, type SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { countAgentsByPool } from "../../../core/signing-pools/signing-agent.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Db } from "../../../db/open.ts";
import { waitingOfPools } from "./console.store.ts";

/** `away`: the pool has agents, but none is online; `short`: fewer than a signature takes. */
export type PoolStatus = "working" | "short" | "away" | "empty" | "disabled";

/** How many agents a signature takes. */
export const signersNeeded = ({
  threshold,
  approvals,
}: Pick<SigningPool, "threshold" | "approvals">): number => threshold?.min ?? approvals;

export interface PoolLoad {
  readonly status: PoolStatus;
  /** Active agents, and how many of them are online. */
  readonly agents: number;
  readonly live: number;
  readonly waiting: number;
  /** In the last 24 hours. */
  readonly signed: number;
  readonly failed: number;
}

/** @returns what adds its load to each of the pools */
export async function loadsOf(
  db: Db,
  orgId: string,
  pools: readonly SigningPool[],
  now: number,
): Promise<(pool: SigningPool) => SigningPool & PoolLoad> {
  const agents = await countAgentsByPool(db, orgId, now - AGENT_SEEN_MS);
  const waiting = await waitingOfPools(db, orgId, now);
  const kinds = pools.flatMap(({ id }) => [
    ofPool("pool-signatures", id),
    ofPool("failed-pool-signatures", id),
  ]);
  const to = now - (now % HOUR_MS) + HOUR_MS;
  const { totals } = await readActivity(db, orgId, { kinds, from: to - 24 * HOUR_MS, to, by: "hour" });
  const sum = (kind: (typeof kinds)[number]) => (totals[kind] ?? []).reduce((all, count) => all + count, 0);
  return (pool) => {
    const counted = agents.get(pool.id) ?? { agents: 0, live: 0 };
    return {
      ...pool,
      ...counted,
      status: poolStatus(pool, counted),
      waiting: waiting.get(pool.id) ?? 0,
      signed: sum(ofPool("pool-signatures", pool.id)),
      failed: sum(ofPool("failed-pool-signatures", pool.id)),
    };
  };
}

function poolStatus(pool: SigningPool, { agents, live }: Pick<PoolLoad, "agents" | "live">): PoolStatus {
  if (pool.disabledAt !== null) return "disabled";
  if (live > 0) return live < signersNeeded(pool) ? "short" : "working";
  return agents > 0 ? "away" : "empty";
}

export const agentStatuses = ["live", "away", "new", "deactivated", "compromised"] as const;
export type AgentStatus = (typeof agentStatuses)[number];

export function agentStatus(
  { lastSeenAt, deactivatedAt, compromisedAt }: SigningAgent,
  now: number,
): AgentStatus {
  if (compromisedAt !== null) return "compromised";
  if (deactivatedAt !== null) return "deactivated";
  if (lastSeenAt === null) return "new";
  return now - lastSeenAt < AGENT_SEEN_MS ? "live" : "away";
}

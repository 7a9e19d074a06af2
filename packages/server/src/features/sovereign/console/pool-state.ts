/** The status and load of pools and agents, for their pages. */

import { readActivity } from "../../../core/activity/activity.store.ts";
import { HOUR_MS, ofPool } from "../../../core/activity/kinds.ts";
import { AGENT_SEEN_MS, type SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { countAgentsByPool } from "../../../core/signing-pools/signing-agent.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Db } from "../../../db/open.ts";
import { waitingOfPools } from "./console.store.ts";

/** `away`: the pool has agents, but none is online. */
export type PoolStatus = "working" | "away" | "empty" | "disabled";

export interface PoolLoad {
  readonly status: PoolStatus;
  /** Active agents, and how many of them are online. */
  readonly agents: number;
  readonly live: number;
  /** Pending requests. */
  readonly waiting: number;
  /** In the last 24 hours. */
  readonly signed: number;
  readonly failed: number;
}

export async function loadsOf(
  db: Db,
  orgId: string,
  pools: readonly SigningPool[],
  now: number,
): Promise<ReadonlyMap<string, PoolLoad>> {
  const agents = await countAgentsByPool(db, orgId, now - AGENT_SEEN_MS);
  const waiting = await waitingOfPools(db, orgId, now);
  const kinds = pools.flatMap(({ id }) => [
    ofPool("pool-signatures", id),
    ofPool("failed-pool-signatures", id),
  ]);
  const hour = now - (now % HOUR_MS);
  const asked = { kinds, from: hour - 23 * HOUR_MS, to: hour + HOUR_MS, by: "hour" } as const;
  const { totals } = await readActivity(db, orgId, asked);
  const sum = (kind: (typeof kinds)[number]) => (totals[kind] ?? []).reduce((all, count) => all + count, 0);
  return new Map(
    pools.map(({ id, disabledAt }) => {
      const counted = agents.get(id) ?? { agents: 0, live: 0 };
      const load: PoolLoad = {
        status: poolStatus(disabledAt, counted),
        ...counted,
        waiting: waiting.get(id) ?? 0,
        signed: sum(ofPool("pool-signatures", id)),
        failed: sum(ofPool("failed-pool-signatures", id)),
      };
      return [id, load];
    }),
  );
}

function poolStatus(
  disabledAt: number | null,
  { agents, live }: { agents: number; live: number },
): PoolStatus {
  if (disabledAt !== null) return "disabled";
  if (live > 0) return "working";
  return agents > 0 ? "away" : "empty";
}

export type AgentStatus = "live" | "away" | "new" | "deactivated" | "compromised";

export function agentStatus(
  { lastSeenAt, deactivatedAt, compromisedAt }: SigningAgent,
  now: number,
): AgentStatus {
  if (compromisedAt !== null) return "compromised";
  if (deactivatedAt !== null) return "deactivated";
  if (lastSeenAt === null) return "new";
  return now - lastSeenAt < AGENT_SEEN_MS ? "live" : "away";
}

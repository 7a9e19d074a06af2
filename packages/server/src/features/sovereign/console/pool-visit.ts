/** Finds the pool and agent of a page's path; the paths and breadcrumbs of pool pages. */
import { isUuid } from "@signet/protocol/hash";
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { findAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, pathParams, type Visit } from "../../../page-kit/page.ts";

type At = Pick<Visit, "organisation">;
export type Params = Readonly<Record<string, string>>;

/** @param poolId from the path. @returns undefined when the organisation has no such pool */
export async function findPoolAt(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: At,
  poolId = "",
): Promise<SigningPool | undefined> {
  return isUuid(poolId) ? findPool(database.query, organisation.id, poolId.toLowerCase()) : undefined;
}

/** @throws NotFound */
export async function poolAt(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<SigningPool> {
  const pool = await findPoolAt(deps, visit, pathParams(visit)["pool"]);
  if (!pool) throw new NotFound("signing pool");
  return pool;
}

export interface PoolAgent {
  readonly pool: SigningPool;
  readonly agent: SigningAgent;
}

export async function findAgentAt(
  deps: Pick<ConsoleDeps, "database">,
  at: At,
  { pool: poolId, agent: agentId = "" }: Params,
): Promise<PoolAgent | undefined> {
  const pool = await findPoolAt(deps, at, poolId);
  if (!pool || !isUuid(agentId)) return undefined;
  const agent = await findAgent(deps.database.query, at.organisation.id, agentId.toLowerCase());
  return agent && agent.poolId === pool.id ? { pool, agent } : undefined;
}

/** @throws NotFound */
export async function agentAt(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<PoolAgent> {
  const found = await findAgentAt(deps, visit, pathParams(visit));
  if (!found) throw new NotFound("signing agent");
  return found;
}

export const poolPath = ({ organisation }: At, id: string, rest = ""): string =>
  consolePath(organisation, `/pools/${encodeURIComponent(id)}${rest}`);

export function poolCrumbs(
  at: At,
  { console: { frame } }: Messages,
  pool?: Pick<SigningPool, "id" | "name">,
  agent?: Pick<SigningAgent, "id" | "name">,
): Array<{ label: string; uri: string }> {
  return [
    { label: frame.pages.pools, uri: consolePath(at.organisation, "/pools") },
    ...(pool ? [{ label: pool.name, uri: poolPath(at, pool.id) }] : []),
    ...(pool && agent ? [{ label: agent.name, uri: poolPath(at, pool.id, `/agents/${agent.id}`) }] : []),
  ];
}

/** The pool and the agent in an address; the addresses and breadcrumbs of their pages. */
import { isUuid } from "@signet/protocol/hash";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { findAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, pathParams, type Visit } from "../../../page-kit/page.ts";

type Deps = Pick<ConsoleDeps, "database">;
type Organisational = Pick<Organisation, "id">;
type Params = Readonly<Record<string, string>>;

export async function findPoolAt(
  { database }: Deps,
  { id: orgId }: Organisational,
  { pool = "" }: Params,
): Promise<SigningPool | undefined> {
  return isUuid(pool) ? findPool(database.query, orgId, pool) : undefined;
}

/** @throws NotFound */
export async function requirePool(deps: Deps, visit: Visit): Promise<SigningPool> {
  const pool = await findPoolAt(deps, visit.organisation, pathParams(visit));
  if (!pool) throw new NotFound("signing pool");
  return pool;
}

export interface PoolAgent {
  readonly pool: SigningPool;
  readonly agent: SigningAgent;
}

export async function findAgentAt(
  deps: Deps,
  organisation: Organisational,
  params: Params,
): Promise<PoolAgent | undefined> {
  const pool = await findPoolAt(deps, organisation, params);
  const { agent: agentId = "" } = params;
  if (!pool || !isUuid(agentId)) return undefined;
  const agent = await findAgent(deps.database.query, organisation.id, agentId);
  return agent?.poolId === pool.id ? { pool, agent } : undefined;
}

/** As its own page has it. */
export type AgentRecord = SigningAgent & { readonly pool: SigningPool };

/** @throws NotFound */
export async function requireAgent(deps: Deps, visit: Visit): Promise<PoolAgent> {
  const found = await findAgentAt(deps, visit.organisation, pathParams(visit));
  if (!found) throw new NotFound("signing agent");
  return found;
}

/** Where the tab of its agents is, below a pool's own address. */
export const AGENTS = "/agents";

export const poolPath = (organisation: Organisational, { id }: Pick<SigningPool, "id">, rest = ""): string =>
  consolePath(organisation, `/pools/${id}${rest}`);

export const agentPath = (organisation: Organisational, { id, poolId }: SigningAgent, rest = ""): string =>
  consolePath(organisation, `/pools/${poolId}/agents/${id}${rest}`);

/** For pages below the list, a pool or an agent. */
export const poolCrumbs = (
  { messages, consoleUri }: Pick<ConsoleFrame, "messages" | "consoleUri">,
  { pool, agent }: { pool?: SigningPool | undefined; agent?: SigningAgent | undefined } = {},
): Array<{ label: string; uri: string }> => [
  { label: messages.console.frame.pages.pools, uri: consoleUri("/pools") },
  ...(pool ? [{ label: pool.name, uri: consoleUri(`/pools/${pool.id}`) }] : []),
  ...(pool && agent ? [{ label: agent.name, uri: consoleUri(`/pools/${pool.id}/agents/${agent.id}`) }] : []),
];

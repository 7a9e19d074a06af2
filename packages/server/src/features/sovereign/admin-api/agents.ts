/** Registering agents, giving them new keys, and ending them (sovereign-signing.md §2 and §7). */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { AuditAction } from "../../../core/audit/actions.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { CLOCK_SKEW_MS } from "../../../core/signing-keys/signing-key.ts";
import { type AgentKey, agentKeyState, type SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import {
  compromiseAgentRow,
  compromiseKeys,
  countWorkingAgents,
  deactivateAgentRow,
  holdAgent,
  holdPool,
  insertAgent,
  insertAgentKey,
  listKeysOfAgent,
  retireKey,
  retireKeys,
} from "../../../core/signing-pools/registration.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { findAgent, findPool, listKeysOfPool } from "../../../core/signing-pools/signing-pools.store.ts";
import type { Db } from "../../../db/open.ts";
import { CodedError, nothingHere } from "../../../http/coded-error.ts";
import { endLeases } from "../requests/lease.store.ts";
import { failSignedBy } from "../requests/signing-request.store.ts";
import { duplicateKey, type PresentedKey, type ReadKey, readAgentKeys } from "./agent-keys.ts";
import { type Acting, requireName, type SovereignAdminDeps } from "./pools.ts";

/** Of one pool; those that were deactivated do not count. */
export const MOST_AGENTS = 100;
/** Of one agent that have not retired. */
export const MOST_KEYS = 16;

export interface NewAgent {
  readonly poolId: string;
  readonly name: string;
  readonly keys: readonly PresentedKey[];
}

export interface RegisteredAgent {
  readonly agent: SigningAgent;
  /** Shown once. */
  readonly apiKey: string;
  readonly keys: readonly AgentKey[];
}

/** @throws CodedError */
export async function registerAgent(
  deps: SovereignAdminDeps,
  by: Acting,
  input: NewAgent,
): Promise<RegisteredAgent> {
  const { orgId } = by;
  const name = requireName(input.name);
  const now = deps.clock();
  const pool = await findPool(deps.database.query, orgId, input.poolId);
  if (!pool) throw nothingHere();
  const read = await readAgentKeys(input.keys, { baseUrl: deps.baseUrl, pool, now });
  const apiKey = randomSecret("sgn_ak_");
  const agent: SigningAgent = {
    orgId,
    id: newUuid(),
    poolId: pool.id,
    name,
    createdAt: now,
    createdBy: by.actor,
    lastSeenAt: null,
    deactivatedAt: null,
    compromisedAt: null,
  };
  const keys = await deps.database.transaction(async (tx) => {
    const held = await requireWorkingPool(tx, pool);
    if ((await countWorkingAgents(tx, orgId, pool.id)) >= MOST_AGENTS)
      throw new CodedError(409, "agent_limit", `a pool has at most ${MOST_AGENTS} agents`);
    await insertAgent(tx, agent, sha256Base64url(apiKey));
    const added = await addKeys(tx, held, agent, { read, now });
    await note(tx, deps, by, "signing-agent.registered", agent, { name, ...kidsOf(added) });
    return added;
  });
  return { agent, apiKey, keys };
}

/**
 * New keys for an agent. Its keys of the same algorithm retire when the new ones begin to sign: that is a rotation.
 * @throws CodedError
 */
export async function addAgentKeys(
  deps: SovereignAdminDeps,
  by: Acting,
  input: { readonly agentId: string; readonly keys: readonly PresentedKey[] },
): Promise<readonly AgentKey[]> {
  const now = deps.clock();
  const known = await findAgent(deps.database.query, by.orgId, input.agentId);
  const pool = known && (await findPool(deps.database.query, by.orgId, known.poolId));
  if (!pool) throw nothingHere();
  const read = await readAgentKeys(input.keys, { baseUrl: deps.baseUrl, pool, now });
  return deps.database.transaction(async (tx) => {
    const held = await requireWorkingPool(tx, pool);
    // A key that came while its agent ends would stay in the JWKS, with nobody left to end it.
    await holdAgent(tx, by.orgId, input.agentId);
    const agent = await findAgent(tx, by.orgId, input.agentId);
    if (!agent) throw nothingHere();
    if (agent.deactivatedAt !== null)
      throw new CodedError(409, "agent_deactivated", "the agent is deactivated: register another one");
    const added = await addKeys(tx, held, agent, { read, now });
    await note(tx, deps, by, "signing-agent.keys-added", agent, kidsOf(added));
    return added;
  });
}

/**
 * Its API key is worth nothing from now on, what it has claimed goes to others, what it has signed stays valid.
 * @param compromised its keys leave the JWKS now, and all that they signed with them; of an agent that was deactivated too
 * @returns false when there is no such agent; true also when there was nothing left to do
 */
export async function deactivateAgent(
  deps: SovereignAdminDeps,
  by: Acting,
  { agentId, compromised }: { readonly agentId: string; readonly compromised: boolean },
): Promise<boolean> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const agent = await findAgent(tx, orgId, agentId);
    if (!agent) return false;
    const now = deps.clock();
    const ending = { orgId, id: agentId, now };
    if (await deactivateAgentRow(tx, ending)) {
      // In the order of a signature, which is written to its request and then to its key: else each could wait for the other.
      await endLeases(tx, { orgId, agentId, poolId: agent.poolId });
      await retireKeys(tx, { orgId, agentId, at: now });
      await note(tx, deps, by, "signing-agent.deactivated", agent, {});
    }
    if (compromised && (await compromiseAgentRow(tx, ending))) {
      const kids = await compromiseKeys(tx, { orgId, agentId, now });
      // What is signed but not handed out yet goes with what was.
      await failSignedBy(tx, { orgId, kids, now });
      await note(tx, deps, by, "signing-agent.compromised", agent, { kids });
    }
    return true;
  });
}

/**
 * One key of an agent signs nothing new from now on; it stays published as long as its tokens live.
 * @returns false when there is none such that signs, or will
 */
export async function retireAgentKey(
  deps: SovereignAdminDeps,
  by: Acting,
  { agentId, kid }: { readonly agentId: string; readonly kid: string },
): Promise<boolean> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const agent = await findAgent(tx, orgId, agentId);
    const now = deps.clock();
    if (!agent || !(await retireKey(tx, { orgId, agentId, kid, now }))) return false;
    await note(tx, deps, by, "signing-agent.key-retired", agent, { kid });
    return true;
  });
}

/** As it is now, and nobody else changes its agents meanwhile. @throws CodedError */
async function requireWorkingPool(tx: Db, { orgId, id }: SigningPool): Promise<SigningPool> {
  const pool = await holdPool(tx, orgId, id);
  if (!pool) throw nothingHere();
  if (pool.disabledAt !== null) throw new CodedError(409, "pool_disabled", "the pool is disabled");
  return pool;
}

/** A key that comes while the pool has no active one is active at once: nobody can miss it in a JWKS of before. */
async function addKeys(
  tx: Db,
  pool: SigningPool,
  agent: SigningAgent,
  { read, now }: { read: readonly ReadKey[]; now: number },
): Promise<AgentKey[]> {
  const { orgId, id: poolId, keyPublishDelaySeconds } = pool;
  const isActive = (key: AgentKey) => agentKeyState(key, now) === "active";
  const hasActive = (await listKeysOfPool(tx, orgId, poolId)).some(isActive);
  const isAtOnce = !hasActive || keyPublishDelaySeconds === 0;
  // At once means on every node, also where the clock is behind.
  const activeFrom = isAtOnce ? now - CLOCK_SKEW_MS : now + keyPublishDelaySeconds * 1000;
  const living = (await listKeysOfAgent(tx, orgId, agent.id)).filter(
    (key) => !["retired", "compromised"].includes(agentKeyState(key, now)),
  );
  if (living.length + read.length > MOST_KEYS)
    throw new CodedError(409, "key_limit", `an agent has at most ${MOST_KEYS} keys that have not retired`);
  for (const alg of new Set(read.map((key) => key.alg)))
    await retireKeys(tx, { orgId, agentId: agent.id, at: Math.max(activeFrom, now), only: alg });
  const keys = read.map(
    (key): AgentKey => ({
      ...key,
      orgId,
      poolId,
      agentId: agent.id,
      createdAt: now,
      activeFrom,
      retiringAt: null,
      lastTokenExp: null,
      compromisedAt: null,
    }),
  );
  for (const key of keys)
    if (!(await insertAgentKey(tx, key)))
      throw duplicateKey("the key is registered already, or was compromised");
  return keys;
}

const kidsOf = (keys: readonly AgentKey[]) => ({ kids: keys.map(({ kid }) => kid) });

/** Written with the change, and told to every node. */
async function note(
  tx: Db,
  deps: SovereignAdminDeps,
  by: Acting,
  action: AuditAction,
  { id, poolId }: SigningAgent,
  details: Readonly<Record<string, string | readonly string[]>>,
): Promise<void> {
  const event = { ...by, at: deps.clock(), action, target: id, details: { poolId, ...details } };
  await recordAuditEvent(tx, event);
  await deps.changes.publish(tx, { orgId: by.orgId, topic: "signing-pool" });
}

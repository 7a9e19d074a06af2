/** Registers and deactivates agents, adds and retires their keys (sovereign-signing.md §2 and §7). */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { AuditAction } from "../../../core/audit/actions.ts";
import type { Act } from "../../../core/audit/audit.store.ts";
import { CLOCK_SKEW_MS } from "../../../core/signing-keys/signing-key.ts";
import {
  claimKey,
  compromiseGroupKeys,
  compromiseKeys,
  insertAgentKey,
  listAgentKeys,
  listPoolKeys,
  retireKey,
  retireKeys,
} from "../../../core/signing-pools/agent-key.store.ts";
import { type AgentKey, agentKeyState, type SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import {
  compromiseAgentRow,
  countActiveAgents,
  deactivateAgentRow,
  findAgent,
  insertAgent,
  lockAgent,
} from "../../../core/signing-pools/signing-agent.store.ts";
import { findPool, lockPoolForUpdate } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Db } from "../../../db/open.ts";
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import { releaseClaims } from "../requests/claim-request.store.ts";
import { failSignedBy } from "../requests/sign-request.store.ts";
import { abortOpenCeremonies } from "../threshold/ceremony.store.ts";
import { insertMember } from "../threshold/member.store.ts";
import { duplicateKey, type PresentedKey, readAgentKeys, type ValidKey } from "./agent-keys.ts";
import { recordChange, requireName, type SovereignAdminDeps } from "./pools.ts";

/** Per pool, without deactivated agents. */
export const MAX_AGENTS = 100;
/** Per agent, without retired keys. */
export const MAX_KEYS = 16;

/** @returns also the API key, which is shown once */
export async function registerAgent(
  deps: SovereignAdminDeps,
  by: Act,
  input: { readonly poolId: string; readonly name: string; readonly keys: readonly PresentedKey[] },
) {
  const { orgId } = by;
  const name = requireName(input.name);
  const now = deps.clock();
  const pool = await findPool(deps.database.query, orgId, input.poolId);
  if (!pool) throw codedNotFound();
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
  if (pool.threshold) requireOneIdentity(read);
  const keys = await deps.database.transaction(async (tx) => {
    const locked = await lockEnabledPool(tx, pool);
    if ((await countActiveAgents(tx, orgId, pool.id)) >= MAX_AGENTS)
      throw new CodedError(409, "agent_limit", `a pool has at most ${MAX_AGENTS} agents`);
    await insertAgent(tx, agent, sha256Base64url(apiKey));
    const added = pool.threshold
      ? await addIdentity(tx, agent, { read, now })
      : await addKeys(tx, locked, agent, { read, now });
    await recordAgentChange(tx, deps, by, "signing-agent.registered", agent, { name, ...keyIds(added) });
    return added;
  });
  return { agent, apiKey, keys };
}

/** Rotates: the agent's keys of the same algorithm retire when the new ones become active. @throws CodedError */
export async function addAgentKeys(
  deps: SovereignAdminDeps,
  by: Act,
  input: { readonly agentId: string; readonly keys: readonly PresentedKey[] },
): Promise<readonly AgentKey[]> {
  const now = deps.clock();
  const known = await findAgent(deps.database.query, by.orgId, input.agentId);
  const pool = known && (await findPool(deps.database.query, by.orgId, known.poolId));
  if (!pool) throw codedNotFound();
  if (pool.threshold)
    throw new CodedError(
      409,
      "threshold_pool",
      "a threshold pool's key comes from a key ceremony of its agents",
    );
  const read = await readAgentKeys(input.keys, { baseUrl: deps.baseUrl, pool, now });
  return deps.database.transaction(async (tx) => {
    const locked = await lockEnabledPool(tx, pool);
    // A key added during a deactivation would stay in the JWKS for ever.
    await lockAgent(tx, by.orgId, input.agentId);
    const agent = await findAgent(tx, by.orgId, input.agentId);
    if (!agent) throw codedNotFound();
    if (agent.deactivatedAt !== null)
      throw new CodedError(409, "agent_deactivated", "the agent is deactivated: register a new one");
    const added = await addKeys(tx, locked, agent, { read, now });
    await recordAgentChange(tx, deps, by, "signing-agent.keys-added", agent, keyIds(added));
    return added;
  });
}

/**
 * The API key stops working, claimed requests go to other agents, signed tokens stay valid.
 * @param compromised removes the agent's keys from the JWKS, so that its tokens are no longer valid; also after a deactivation
 * @returns false when there is no such agent; true also when nothing was left to do
 */
export async function deactivateAgent(
  deps: SovereignAdminDeps,
  by: Act,
  { agentId, compromised }: { readonly agentId: string; readonly compromised: boolean },
): Promise<boolean> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const agent = await findAgent(tx, orgId, agentId);
    if (!agent) return false;
    const now = deps.clock();
    const deactivation = { orgId, id: agentId, now };
    if (await deactivateAgentRow(tx, deactivation)) {
      // Locks in the order of a signature (request, then key), or the two could deadlock.
      await releaseClaims(tx, { orgId, agentId, poolId: agent.poolId });
      await retireKeys(tx, { orgId, agentId, at: now });
      await recordAgentChange(tx, deps, by, "signing-agent.deactivated", agent, {});
    }
    if (compromised && (await compromiseAgentRow(tx, deactivation))) {
      const kids = await compromiseKeys(tx, { orgId, agentId, now });
      // Whoever has one share of a group key may have others.
      kids.push(...(await compromiseGroupKeys(tx, { orgId, poolId: agent.poolId, now })));
      for (const id of await abortOpenCeremonies(tx, {
        orgId,
        poolId: agent.poolId,
        reason: "compromised",
        now,
      }))
        await recordChange(tx, deps, by, {
          action: "threshold-ceremony.aborted",
          target: id,
          details: { poolId: agent.poolId, reason: "compromised" },
        });
      // Also what is signed but not released yet.
      await failSignedBy(tx, { orgId, kids, now });
      await recordAgentChange(tx, deps, by, "signing-agent.compromised", agent, { kids });
    }
    return true;
  });
}

/**
 * The key signs nothing new; it stays published until its last token expires.
 * @returns false when there is no such key, or it has retired
 */
export async function retireAgentKey(
  deps: SovereignAdminDeps,
  by: Act,
  { agentId, kid }: { readonly agentId: string; readonly kid: string },
): Promise<boolean> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const agent = await findAgent(tx, orgId, agentId);
    const now = deps.clock();
    if (!agent || !(await retireKey(tx, { orgId, agentId, kid, now }))) return false;
    await recordAgentChange(tx, deps, by, "signing-agent.key-retired", agent, { kid });
    return true;
  });
}

/** With one agent's identity another could not be taken for two. */
function requireOneIdentity(read: readonly ValidKey[]): void {
  if (read.length !== 1)
    throw new CodedError(400, "invalid_request", "an agent of a threshold pool has one key, its identity");
}

/** The identity key signs what the agent says in key ceremonies; it is in no JWKS, and signs no token. */
async function addIdentity(
  tx: Db,
  { orgId, id: agentId, poolId }: SigningAgent,
  { read, now }: { read: readonly ValidKey[]; now: number },
): Promise<AgentKey[]> {
  const keys: AgentKey[] = [];
  for (const key of read) {
    if (!(await claimKey(tx, { orgId, kid: key.kid })))
      throw duplicateKey("the key is already registered, or was compromised");
    await insertMember(tx, { orgId, agentId, poolId, kid: key.kid, publicJwk: key.publicJwk, now });
    const times = { createdAt: now, activeFrom: now, retiringAt: null, lastTokenExp: null };
    keys.push({ ...key, orgId, poolId, agentId, ...times, compromisedAt: null, ceremonyId: null });
  }
  return keys;
}

/** Locks the pool. @throws CodedError */
async function lockEnabledPool(tx: Db, { orgId, id }: SigningPool): Promise<SigningPool> {
  const pool = await lockPoolForUpdate(tx, orgId, id);
  if (!pool) throw codedNotFound();
  if (pool.disabledAt !== null) throw new CodedError(409, "pool_disabled", "the pool is disabled");
  return pool;
}

/** Without an active key in the pool a new one is active immediately: no cached JWKS can lack it. */
async function addKeys(
  tx: Db,
  pool: SigningPool,
  agent: SigningAgent,
  { read, now }: { read: readonly ValidKey[]; now: number },
): Promise<AgentKey[]> {
  const { orgId, id: poolId, keyPublishDelaySeconds } = pool;
  const isActive = (key: AgentKey) => agentKeyState(key, now) === "active";
  const hasActive = (await listPoolKeys(tx, orgId, poolId)).some(isActive);
  const isImmediate = !hasActive || keyPublishDelaySeconds === 0;
  // Also on nodes whose clock is behind.
  const activeFrom = isImmediate ? now - CLOCK_SKEW_MS : now + keyPublishDelaySeconds * 1000;
  const unretired = (await listAgentKeys(tx, orgId, agent.id)).filter(
    (key) => !["retired", "compromised"].includes(agentKeyState(key, now)),
  );
  if (unretired.length + read.length > MAX_KEYS)
    throw new CodedError(409, "key_limit", `an agent has at most ${MAX_KEYS} unretired keys`);
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
      ceremonyId: null,
    }),
  );
  for (const key of keys)
    if (!(await insertAgentKey(tx, key)))
      throw duplicateKey("the key is already registered, or was compromised");
  return keys;
}

const keyIds = (keys: readonly AgentKey[]) => ({ kids: keys.map(({ kid }) => kid) });

const recordAgentChange = (
  tx: Db,
  deps: SovereignAdminDeps,
  by: Act,
  action: AuditAction,
  { id, poolId }: SigningAgent,
  details: Readonly<Record<string, string | readonly string[]>>,
): Promise<void> => recordChange(tx, deps, by, { action, target: id, details: { poolId, ...details } });

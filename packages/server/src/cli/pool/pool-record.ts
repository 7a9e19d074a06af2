/** Signing pools, their agents and keys, as operators see them; never the hash of an API key. */
import { type AgentKey, agentKeyState, type SigningAgent } from "../../core/signing-pools/agent-key.ts";
import { issuerOfPool, jwksUriOfPool, type SigningPool } from "../../core/signing-pools/signing-pool.ts";
import type { Service } from "../../modules/open-service.ts";
import { fields, stateOf, table, time, timeOrNull } from "../answer.ts";

export const poolRecord = ({ config }: Service, pool: SigningPool) => ({
  poolId: pool.id,
  name: pool.name,
  issuer: issuerOfPool(config.baseUrl, pool),
  jwksUri: jwksUriOfPool(config.baseUrl, pool),
  issuerMode: pool.issuerMode,
  algs: pool.algs,
  maxTokenLifetimeSeconds: pool.maxTokenLifetimeSeconds,
  tokenWaitSeconds: pool.tokenWaitSeconds,
  keyPublishDelaySeconds: pool.keyPublishDelaySeconds,
  maxPending: pool.maxPending,
  trustedRoots: pool.trustedRoots,
  requireX5c: pool.requireX5c,
  createdAt: time(pool.createdAt),
  disabledAt: timeOrNull(pool.disabledAt),
});

export function poolFields(service: Service, pool: SigningPool): string[] {
  const record = poolRecord(service, pool);
  return fields({
    poolId: record.poolId,
    name: record.name,
    state: stateOf(pool.disabledAt),
    issuer: record.issuer,
    jwksUri: record.jwksUri,
    issuerMode: record.issuerMode,
    algs: record.algs.join(" "),
    maxTokenLifetimeSeconds: String(record.maxTokenLifetimeSeconds),
    tokenWaitSeconds: String(record.tokenWaitSeconds),
    keyPublishDelaySeconds: String(record.keyPublishDelaySeconds),
    maxPending: String(record.maxPending),
    trustedRoots: String(record.trustedRoots.length),
    requireX5c: record.requireX5c ? "yes" : "no",
    createdAt: record.createdAt,
  });
}

export const agentRecord = (agent: SigningAgent) => ({
  agentId: agent.id,
  poolId: agent.poolId,
  name: agent.name,
  createdAt: time(agent.createdAt),
  lastSeenAt: timeOrNull(agent.lastSeenAt),
  deactivatedAt: timeOrNull(agent.deactivatedAt),
  compromisedAt: timeOrNull(agent.compromisedAt),
});

export function agentState({ compromisedAt, deactivatedAt }: SigningAgent): string {
  if (compromisedAt !== null) return "compromised";
  return deactivatedAt === null ? "working" : "deactivated";
}

export const agentKeyRecord = (key: AgentKey, now: number) => ({
  kid: key.kid,
  agentId: key.agentId,
  alg: key.alg,
  state: agentKeyState(key, now),
  certificates: key.x5c.length,
  activeFrom: time(key.activeFrom),
  retiringAt: timeOrNull(key.retiringAt),
  lastTokenExp: timeOrNull(key.lastTokenExp),
  compromisedAt: timeOrNull(key.compromisedAt),
});

export function agentKeyTable(keys: readonly AgentKey[], now: number): string[] {
  if (keys.length === 0) return ["It has no keys yet: signet agent register --org … --pool … --keys FILE"];
  return table(
    ["KID", "AGENT", "ALG", "STATE", "SIGNS FROM", "RETIRES"],
    keys.map((key) => {
      const { kid, agentId, alg, state, activeFrom, retiringAt } = agentKeyRecord(key, now);
      return [kid, agentId, alg, state, activeFrom, retiringAt ?? "when it has a successor"];
    }),
  );
}

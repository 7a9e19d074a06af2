/** Output of signing pools, agents and their keys. */
import { type AgentKey, agentKeyState, type SigningAgent } from "../../core/signing-pools/agent-key.ts";
import {
  type SigningPool,
  signingPoolIssuer,
  signingPoolJwksUri,
} from "../../core/signing-pools/signing-pool.ts";
import type { Service } from "../../modules/open-service.ts";
import { enabledStatus, fields, formatTime, formatTimeOrNull, table } from "../output.ts";

export const poolRecord = ({ config }: Service, pool: SigningPool) => ({
  poolId: pool.id,
  name: pool.name,
  issuer: signingPoolIssuer(config.baseUrl, pool),
  jwksUri: signingPoolJwksUri(config.baseUrl, pool),
  issuerMode: pool.issuerMode,
  algs: pool.algs,
  maxTokenLifetimeSeconds: pool.maxTokenLifetimeSeconds,
  tokenWaitSeconds: pool.tokenWaitSeconds,
  keyPublishDelaySeconds: pool.keyPublishDelaySeconds,
  maxPending: pool.maxPending,
  trustedRoots: pool.trustedRoots,
  requireX5c: pool.requireX5c,
  threshold: pool.threshold,
  approvals: pool.approvals,
  createdAt: formatTime(pool.createdAt),
  disabledAt: formatTimeOrNull(pool.disabledAt),
});

export function poolFields(service: Service, pool: SigningPool): string[] {
  const record = poolRecord(service, pool);
  return fields({
    poolId: record.poolId,
    name: record.name,
    status: enabledStatus(pool),
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
    ...(pool.approvals > 1 ? { approvals: String(pool.approvals) } : {}),
    ...(pool.threshold ? { threshold: `${pool.threshold.min} of ${pool.threshold.max}` } : {}),
    createdAt: record.createdAt,
  });
}

export const agentRecord = (agent: SigningAgent) => ({
  agentId: agent.id,
  poolId: agent.poolId,
  name: agent.name,
  createdAt: formatTime(agent.createdAt),
  lastSeenAt: formatTimeOrNull(agent.lastSeenAt),
  deactivatedAt: formatTimeOrNull(agent.deactivatedAt),
  compromisedAt: formatTimeOrNull(agent.compromisedAt),
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
  activeFrom: formatTime(key.activeFrom),
  retiringAt: formatTimeOrNull(key.retiringAt),
  lastTokenExp: formatTimeOrNull(key.lastTokenExp),
  compromisedAt: formatTimeOrNull(key.compromisedAt),
});

export function agentKeyTable(keys: readonly AgentKey[], now: number): string[] {
  if (keys.length === 0) return ["No keys yet: signet agent register --org … --pool … --keys FILE"];
  return table(
    ["KID", "AGENT", "ALG", "STATUS", "SIGNS FROM", "RETIRES"],
    keys.map((key) => {
      const { kid, agentId, alg, state, activeFrom, retiringAt } = agentKeyRecord(key, now);
      return [kid, agentId, alg, state, activeFrom, retiringAt ?? "next rotation"];
    }),
  );
}

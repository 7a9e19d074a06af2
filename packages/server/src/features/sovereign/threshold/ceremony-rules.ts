/** What key ceremonies and resharings have in common: their rounds, how they are opened, and what is refused. */

import type { Threshold } from "@signet/protocol/threshold/group";
import type { IdentityJwk } from "@signet/protocol/threshold/messages";
import { newUuid } from "@signet/protocol/uuid";
import type { AuditAction } from "../../../core/audit/actions.ts";
import { lockPoolForUpdate } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Db } from "../../../db/open.ts";
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import { recordChange, type SovereignAdminDeps } from "../admin-api/pools.ts";
import type { AgentCaller } from "../requests/signing-request.ts";
import { type CeremonyRow, insertCeremony, type MessageRow } from "./ceremony.store.ts";
import type { MemberRow } from "./member.store.ts";

/** The state in which each round is said; `complete` and `aborted` are final. */
export const stateOf = {
  join: "joining",
  shares: "sharing",
  deal: "sharing",
  confirmation: "confirming",
} as const;
export const nextState = { joining: "sharing", sharing: "confirming", confirming: "complete" } as const;

export type Round = keyof typeof stateOf | "abort";

export type AnswerRound = Exclude<Round, "abort">;

interface Opening {
  readonly agent: AgentCaller;
  readonly threshold: Threshold;
  readonly begun: Pick<CeremonyRow, "kind" | "kid" | "from_ceremony" | "members">;
}

/** @throws CodedError while another one is open */
export async function openCeremony(
  tx: Db,
  deps: SovereignAdminDeps,
  { agent, threshold, begun }: Opening,
): Promise<CeremonyRow> {
  const ceremony: CeremonyRow = {
    ...{ org_id: agent.orgId, id: newUuid(), pool_id: agent.poolId, state: "joining" },
    ...{ min_signers: threshold.min, max_signers: threshold.max, begun_by: agent.agentId },
    ...begun,
    ...{ end_reason: null, created_at: deps.clock(), ended_at: null },
  };
  if (!(await insertCeremony(tx, ceremony)))
    throw new CodedError(409, "ceremony_open", "another key ceremony or resharing of this pool is open");
  const details = { kind: begun.kind };
  await recordCeremony(tx, deps, agent, ceremony, { action: "threshold-ceremony.begun", details });
  return ceremony;
}

/** @throws CodedError for a pool of whole keys, or one that is disabled */
export async function lockThresholdPool(tx: Db, { orgId, poolId }: AgentCaller) {
  const pool = await lockPoolForUpdate(tx, orgId, poolId);
  if (!pool) throw codedNotFound();
  return requireThresholdPool(pool);
}

export function requireThresholdPool(pool: SigningPool) {
  if (pool.threshold === null)
    throw new CodedError(409, "not_threshold_pool", "the pool's agents have whole keys");
  if (pool.disabledAt !== null) throw new CodedError(409, "pool_disabled", "the pool is disabled");
  return { ...pool, threshold: pool.threshold };
}

/** A message, and what it is posted to. */
export interface Posted {
  readonly tx: Db;
  readonly deps: SovereignAdminDeps;
  readonly agent: AgentCaller;
  readonly pool: SigningPool;
  readonly ceremony: CeremonyRow;
  readonly messages: readonly MessageRow[];
  readonly members: readonly MemberRow[];
  readonly jwk: IdentityJwk;
  readonly round: Round;
  readonly message: string;
}

export const invalidMessage = (description: string) => new CodedError(422, "invalid_message", description);

export const mismatch = (description: string) => new CodedError(409, "transcript_mismatch", description);

export const keyOf = ({ org_id, pool_id, id }: CeremonyRow) => ({ orgId: org_id, poolId: pool_id, id });

export const recordCeremony = (
  tx: Db,
  deps: SovereignAdminDeps,
  { orgId, agentId, address }: AgentCaller,
  { id, pool_id: poolId }: CeremonyRow,
  {
    action,
    details,
  }: { action: AuditAction; details?: Readonly<Record<string, string | readonly string[]>> },
): Promise<void> =>
  recordChange(
    tx,
    deps,
    { orgId, actor: `agent:${agentId}`, address },
    { action, target: id, details: { poolId, ...details } },
  );

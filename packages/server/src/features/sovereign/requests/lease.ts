/** The lease that an agent presents with every call about a claimed request, and why it is refused. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { AuditAction } from "../../../core/audit/actions.ts";
import type { AuditEvent } from "../../../core/audit/audit.store.ts";
import { currentRow } from "./expire-requests.ts";
import type { SigningRequestRow } from "./signing-request.store.ts";
import type { AgentCaller, ExpiryDeps } from "./signing-request.ts";

export interface Lease extends AgentCaller {
  readonly requestId: string;
  /** SHA-256 of the lease token. */
  readonly hash: string;
  readonly now: number;
}

export interface LeaseToken {
  readonly requestId: string;
  readonly leaseToken: string;
}

/** 404; 409; 409; 410. */
export type LeaseRefusal = "not_found" | "lease_lost" | "already_final" | "request_expired";

export function presentedLease(
  agent: AgentCaller,
  { requestId, leaseToken }: LeaseToken,
  now: number,
): Lease {
  return { ...agent, requestId, hash: sha256Base64url(leaseToken), now };
}

/** @returns undefined when the lease is valid */
export function leaseRefusal(row: SigningRequestRow | undefined, lease: Lease): LeaseRefusal | undefined {
  // An agent must not learn whether another pool's request exists.
  if (row?.pool_id !== lease.poolId) return "not_found";
  if (row.state === "expired") return "request_expired";
  if (row.state === "signed" || row.ended_at !== null) return "already_final";
  if (row.expires_at <= lease.now) return "request_expired";
  const isValid =
    row.claimed_by === lease.agentId &&
    row.lease_token_hash === lease.hash &&
    (row.lease_until ?? 0) > lease.now;
  return isValid ? undefined : "lease_lost";
}

/** Why a statement about the lease has changed nothing. */
export const refusalNow = async (deps: ExpiryDeps, lease: Lease): Promise<LeaseRefusal> =>
  leaseRefusal(await currentRow(deps, lease), { ...lease, now: deps.clock() }) ?? "lease_lost";

export function leaseAuditEvent(
  { orgId, poolId, agentId, requestId: target, now: at, address }: Lease,
  action: AuditAction,
  details: NonNullable<AuditEvent["details"]>,
): AuditEvent {
  const actor = `agent:${agentId}`;
  return { orgId, at, actor, action, target, address, details: { pool: poolId, ...details } };
}

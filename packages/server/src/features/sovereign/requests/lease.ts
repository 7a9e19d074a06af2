/** The lease that an agent shows, and why a call with it came to nothing. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { AuditAction } from "../../../core/audit/actions.ts";
import type { AuditEvent } from "../../../core/audit/audit.store.ts";
import type { AgentCaller, LeaseRefusal } from "../agent-api/request-messages.ts";
import type { Lease } from "./lease.store.ts";
import type { SigningRequestRow } from "./signing-request.store.ts";

export function leaseOf(
  { orgId, poolId, agentId, address }: AgentCaller,
  { requestId, leaseToken }: { readonly requestId: string; readonly leaseToken: string },
  now: number,
): Lease {
  return { orgId, poolId, agentId, requestId, hash: sha256Base64url(leaseToken), now, address };
}

/** What an agent did with its lease, and from where, for the audit log. */
export function leaseEvent(
  { orgId, poolId, agentId, requestId, now, address }: Lease,
  action: AuditAction,
  details: NonNullable<AuditEvent["details"]>,
): AuditEvent {
  return {
    orgId,
    at: now,
    actor: `agent:${agentId}`,
    action,
    target: requestId,
    address,
    details: { pool: poolId, ...details },
  };
}

/** @returns undefined when the lease holds */
export function leaseRefusal(row: SigningRequestRow | undefined, lease: Lease): LeaseRefusal | undefined {
  // Another pool's requests are none of this agent's business, not even that they are there.
  if (row?.pool_id !== lease.poolId) return "not_found";
  if (row.state === "expired") return "request_expired";
  if (row.state === "signed" || row.ended_at !== null) return "already_final";
  if (row.expires_at <= lease.now) return "request_expired";
  return holds(row, lease) ? undefined : "lease_lost";
}

const holds = (row: SigningRequestRow, { agentId, hash, now }: Lease): boolean =>
  row.claimed_by === agentId && row.lease_token_hash === hash && (row.lease_until ?? 0) > now;

/** An agent rejects a claimed request: the request fails, or another agent may claim it. */
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { failLeased, returnToQueue } from "./claim-request.store.ts";
import { currentRow } from "./expire-requests.ts";
import {
  type LeaseRefusal,
  type LeaseToken,
  leaseAuditEvent,
  leaseRefusal,
  presentedLease,
  refusalNow,
} from "./lease.ts";
import { type AgentCaller, countSignature, type FailReason, type SigningDeps } from "./signing-request.ts";

export const rejectReasons = [
  "policy_denied",
  "user_denied",
  "challenge_failed",
  "step_up_required",
  "key_unavailable",
] as const satisfies readonly FailReason[];

export interface Rejection extends LeaseToken {
  readonly reason: (typeof rejectReasons)[number];
  /** For the audit log, cut to 200 characters. */
  readonly detail?: string;
  /** Another agent may claim the request; this one never again. */
  readonly retryable: boolean;
}

export type RejectOutcome = { readonly outcome: "failed" | "pending" | LeaseRefusal };

const MAX_DETAIL_LENGTH = 200;

export async function rejectRequest(
  deps: SigningDeps,
  agent: AgentCaller,
  rejection: Rejection,
): Promise<RejectOutcome> {
  const { reason, detail, retryable } = rejection;
  const lease = presentedLease(agent, rejection, deps.clock());
  const row = await currentRow(deps, lease);
  const refusal = leaseRefusal(row, lease);
  if (refusal || !row) return { outcome: refusal ?? "not_found" };

  const before = row.refused_by;
  const refusedBy = JSON.stringify([...(JSON.parse(before) as string[]), agent.agentId]);
  const isRejected = await deps.database.transaction(async (tx) => {
    const isChanged = retryable
      ? await returnToQueue(tx, lease, { before, refusedBy })
      : await failLeased(tx, lease, reason);
    const short = detail === undefined ? {} : { detail: [...detail].slice(0, MAX_DETAIL_LENGTH).join("") };
    const details = { reason, retryable, ...short };
    if (isChanged) await recordAuditEvent(tx, leaseAuditEvent(lease, "signing-request.rejected", details));
    return isChanged;
  });
  if (!isRejected) return { outcome: await refusalNow(deps, lease) };
  deps.wakeUp.notify(requestTopic(lease.orgId, lease.requestId));
  if (retryable) deps.wakeUp.notify(poolTopic(lease.orgId, lease.poolId));
  else countSignature(deps.count, lease, "failed");
  return { outcome: retryable ? "pending" : "failed" };
}

/** An agent hands in its approval of the bytes that another one will sign; and what the one that signs adds to its signature. */

import { agentAlgs } from "@signet/protocol/agent-signature";
import { approvalHash } from "@signet/protocol/approvals/approval";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { findUsableKey } from "../../../../core/signing-pools/usable-key.ts";
import { requestTopic } from "../../notify/wake-up.ts";
import { claimedTokens, type FindKey } from "../claimed-tokens.ts";
import { currentRow } from "../expire-requests.ts";
import {
  type Lease,
  type LeaseRefusal,
  type LeaseToken,
  leaseAuditEvent,
  leaseRefusal,
  presentedLease,
  refusalNow,
} from "../lease.ts";
import { countBadSubmission } from "../sign-request.store.ts";
import type { SigningRequestRow } from "../signing-request.store.ts";
import { type AgentCaller, countSignature, type SigningDeps } from "../signing-request.ts";
import {
  type ApprovalFault,
  type ApprovalPlan,
  approvalFault,
  type GivenApproval,
  readPlan,
} from "./approval-plan.ts";
import { keepApproval } from "./claim-approval.store.ts";
import { notifyTurn, signerDeadline } from "./claim-approval.ts";

export type ApproveOutcome =
  | { readonly outcome: "approved"; readonly count: number }
  | { readonly outcome: LeaseRefusal }
  | { readonly outcome: "invalid_approval"; readonly reason: ApprovalFault };

export async function approveRequest(
  deps: SigningDeps,
  agent: AgentCaller,
  { approval, ...token }: LeaseToken & { readonly approval: string },
): Promise<ApproveOutcome> {
  const lease = presentedLease(agent, token, deps.clock());
  const row = await currentRow(deps, lease);
  const refusal = leaseRefusal(row, lease);
  if (refusal || !row) return { outcome: refusal ?? "lease_lost" };
  const plan = readPlan(row);
  // The one that signs approves with its signature.
  if (!plan || plan.signer === agent.agentId) return { outcome: "lease_lost" };
  const claimed = await claimedTokens(deps, row, signerKey(deps, agent, plan));
  if (!claimed) return { outcome: "lease_lost" };
  const { requestId } = lease;
  const reason = await approvalFault(deps, agent, approval, { requestId, tokens: claimed.rendered.tokens });
  if (reason) return refuseApproval(deps, lease, reason);
  const given = [...plan.given, { agentId: agent.agentId, approval }];
  const next: ApprovalPlan = { ...plan, given, until: signerDeadline(lease.now) };
  const isKept = await deps.database.transaction(async (tx) => {
    if (!(await keepApproval(tx, lease, row, JSON.stringify(next)))) return false;
    const details = { kid: plan.kid, approval: approvalHash(approval), count: given.length };
    await recordAuditEvent(tx, leaseAuditEvent(lease, "signing-request.approved", details));
    return true;
  });
  if (!isKept) return { outcome: await refusalNow(deps, lease) };
  notifyTurn(deps, agent);
  return { outcome: "approved", count: given.length };
}

const signerKey =
  (deps: SigningDeps, { orgId }: AgentCaller, { signer }: ApprovalPlan): FindKey =>
  (kid) =>
    findUsableKey(deps, { orgId, agentId: signer }, { kids: [kid], algs: agentAlgs });

/** Counts it as a bad submission; the third fails the request. */
export async function refuseApproval(
  deps: SigningDeps,
  lease: Lease,
  reason: ApprovalFault,
): Promise<Exclude<ApproveOutcome, { readonly outcome: "approved" }>> {
  const counted = await deps.database.transaction(async (tx) => {
    const outcome = await countBadSubmission(tx, lease);
    const details = { reason: "bad_signatures", last: `approval: ${reason}` };
    if (outcome === "failed")
      await recordAuditEvent(tx, leaseAuditEvent(lease, "signing-request.failed", details));
    return outcome;
  });
  if (counted === "failed") {
    countSignature(deps.count, lease, "failed");
    deps.wakeUp.notify(requestTopic(lease.orgId, lease.requestId));
  }
  return counted ? { outcome: "invalid_approval", reason } : { outcome: await refusalNow(deps, lease) };
}

/** All approvals of a signature, the signing agent's last; `missing` also when others' are. */
export async function signedApprovals(
  deps: SigningDeps,
  agent: AgentCaller,
  {
    row,
    required,
    approval,
    ...approved
  }: {
    readonly row: SigningRequestRow;
    readonly required: number;
    readonly approval: unknown;
    readonly requestId: string;
    readonly tokens: Parameters<typeof approvalFault>[3]["tokens"];
  },
): Promise<readonly GivenApproval[] | ApprovalFault> {
  const plan = readPlan(row);
  if (!plan || plan.given.length < required - 1) return "missing";
  const fault = await approvalFault(deps, agent, approval, approved);
  if (fault || typeof approval !== "string") return fault ?? "missing";
  return [...plan.given, { agentId: agent.agentId, approval }];
}

/** Who signs a request, the bytes that the others approve for it, and the approvals that there are. */
import { approvesInputs, isApprovalBy, parseApproval } from "@signet/protocol/approvals/approval";
import { findUsableKey } from "../../../../core/signing-pools/usable-key.ts";
import { inputHashes, type Rendering } from "../signing-input.ts";
import type { SigningRequestRow } from "../signing-request.store.ts";
import type { AgentCaller, RenderedToken, SigningDeps } from "../signing-request.ts";

/** The column `approvals`. */
export interface ApprovalPlan {
  /** The agent that signs; its key is in the bytes. */
  readonly signer: string;
  readonly kid: string;
  readonly rendering: Rendering;
  /** Milliseconds: when another agent may sign in its place, once the approvals are there. */
  readonly until: number;
  readonly given: readonly GivenApproval[];
  /** Of the request when the plan was made: more of them, and somebody has these bytes who did not answer. */
  readonly attempts: number;
  /** Who got the request last. */
  readonly holder: string;
  /** Agents that did not answer, or did not come to sign: others sign first. */
  readonly skipped: readonly string[];
}

export interface GivenApproval {
  readonly agentId: string;
  /** A compact JWS. */
  readonly approval: string;
}

export const readPlan = ({ approvals }: Pick<SigningRequestRow, "approvals">): ApprovalPlan | undefined =>
  approvals === null ? undefined : (JSON.parse(approvals) as ApprovalPlan);

export type ApprovalFault = "missing" | "malformed" | "bytes_mismatch" | "bad_signature";

interface Approved {
  readonly requestId: string;
  readonly tokens: readonly RenderedToken[];
}

/** @returns undefined for this agent's own approval of these bytes */
export async function approvalFault(
  deps: SigningDeps,
  agent: AgentCaller,
  submitted: unknown,
  { requestId, tokens }: Approved,
): Promise<ApprovalFault | undefined> {
  if (typeof submitted !== "string") return "missing";
  const approval = parseApproval(submitted);
  if (!approval) return "malformed";
  if (approval.claims.request !== requestId || !approvesInputs(approval, inputHashes(tokens)))
    return "bytes_mismatch";
  const usable = await findUsableKey(deps, agent, { kids: [approval.kid], algs: [approval.alg] });
  if (!usable || !isApprovalBy(approval, { publicKey: usable.publicKey, alg: usable.key.alg }))
    return "bad_signature";
  return undefined;
}

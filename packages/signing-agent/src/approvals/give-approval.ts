/** This machine's approval of bytes that another agent will sign, or that it signs itself. */
import { type ApprovalClaims, approvalHash, approvalInput } from "@signet/protocol/approvals/approval";
import type { AgentKey } from "../keys/key-source.ts";
import type { CheckedToken } from "../policy/check-tokens.ts";
import { inputsOf } from "./check-approvals.ts";

/** How many signatures and approvals the journal has: of earlier runs, and of this one. */
export interface SignatureCount {
  value: number;
  /** The request of the last one that was read from the journal. */
  last?: string;
}

export interface GivenApproval {
  readonly jws: string;
  readonly sha256: string;
  readonly count: number;
}

interface Approving {
  readonly key: AgentKey;
  readonly issuer: string;
  readonly requestId: string;
  readonly tokens: readonly CheckedToken[];
  readonly count: number;
  /** Milliseconds. */
  readonly now: number;
  readonly ledger: ApprovalClaims["ledger"] | undefined;
}

/** @throws what the key throws */
export async function giveApproval(approving: Approving): Promise<GivenApproval> {
  const { key, issuer, requestId, tokens, count, now, ledger } = approving;
  const input = approvalInput(key, {
    ...{ iss: issuer, request: requestId, inputs: inputsOf(tokens), count },
    iat: Math.floor(now / 1000),
    ...(ledger && { ledger }),
  });
  const jws = `${input}.${await key.sign(input)}`;
  return { jws, sha256: approvalHash(jws), count };
}

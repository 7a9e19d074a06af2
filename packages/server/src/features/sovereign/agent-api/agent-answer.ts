/** The outcome of an agent's call as an HTTP response; the refusals are CodedErrors (sovereign-signing.md §5). */
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import type { ApprovalFault } from "../requests/approvals/approval-plan.ts";
import type { ApproveOutcome } from "../requests/approvals/approve-request.ts";
import type { ChallengeOutcome } from "../requests/challenge/challenge-user.ts";
import type { ClaimOutcome, ClaimsOutcome } from "../requests/claim-request.ts";
import type { RejectOutcome } from "../requests/reject-request.ts";
import type { SignOutcome } from "../requests/sign-request.ts";

/** Undefined without a body. */
export interface AgentAnswer {
  readonly status: 200 | 202 | 204;
  readonly body?: unknown;
}

export function claimAnswer({ outcome, ...claimed }: ClaimOutcome): AgentAnswer {
  if (outcome === "claimed") return { status: 200, body: claimed };
  if (outcome === "nothing") return { status: 204 };
  throw refusal(outcome);
}

/** The answer to a claim of several. */
export function claimsAnswer(claimed: ClaimsOutcome): AgentAnswer {
  if (claimed.outcome !== "claimed") throw refusal(claimed.outcome);
  if (claimed.requests.length === 0) return { status: 204 };
  return { status: 200, body: { requests: claimed.requests.map(withoutOutcome) } };
}

const withoutOutcome = ({ outcome: _, ...claimed }: ClaimsOf<ClaimsOutcome>) => claimed;
type ClaimsOf<T> = T extends { readonly requests: ReadonlyArray<infer R> } ? R : never;

/** Several signatures: for each its status, or what a single one would be refused with. */
export function signaturesAnswer(
  signed: ReadonlyArray<{ readonly requestId: string; readonly signed: SignOutcome }>,
  next: ClaimsOutcome | undefined,
): AgentAnswer {
  const results = signed.map((one) => {
    try {
      return signAnswer(one.requestId, one.signed).body;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      const { code, message, more } = error;
      return { requestId: one.requestId, error: code, error_description: message, ...more };
    }
  });
  const requests = next?.outcome === "claimed" ? next.requests.map(withoutOutcome) : [];
  return { status: 200, body: { results, requests } };
}

export function signAnswer(requestId: string, signed: SignOutcome): AgentAnswer {
  switch (signed.outcome) {
    case "signed":
      return { status: 200, body: { requestId, status: "signed" } };
    case "stale_payload":
      throw new CodedError(409, "stale_payload", "the tokens are too old; sign the new ones", {
        more: { tokens: signed.tokens },
      });
    case "invalid_signed_jwt":
      throw new CodedError(422, "invalid_signed_jwt", "the signed tokens are not valid", {
        more: { reason: signed.reason },
        cause: signed.reason,
      });
    case "invalid_approval":
      throw invalidApproval(signed.reason);
    default:
      throw refusal(signed.outcome);
  }
}

export function approveAnswer(requestId: string, approved: ApproveOutcome): AgentAnswer {
  if (approved.outcome === "approved")
    return { status: 200, body: { requestId, status: "approved", approvals: approved.count } };
  throw approved.outcome === "invalid_approval"
    ? invalidApproval(approved.reason)
    : refusal(approved.outcome);
}

const invalidApproval = (reason: ApprovalFault) =>
  new CodedError(422, "invalid_approval", "the approval is not valid", { more: { reason }, cause: reason });

export function challengeAnswer(challenged: ChallengeOutcome): AgentAnswer {
  const { outcome } = challenged;
  if (outcome !== "challenge") throw refusal(outcome);
  return { status: 202, body: { status: "challenge", leaseSeconds: challenged.leaseSeconds } };
}

export function rejectAnswer({ outcome }: RejectOutcome): AgentAnswer {
  if (outcome !== "failed" && outcome !== "pending") throw refusal(outcome);
  return { status: 200, body: { status: outcome } };
}

const refusals = {
  not_claimable: [409, "another agent has claimed the request, or it is final"],
  no_usable_key: [422, "none of the keys is an active key of this agent"],
  not_interactive: [409, "no browser waits for this request"],
  challenge_limit: [409, "no further challenge is possible for this request now"],
  lease_lost: [409, "the lease has expired, or another agent holds it"],
  already_final: [409, "the request is final"],
  request_expired: [410, "the request has expired"],
} as const;

function refusal(outcome: keyof typeof refusals | "not_found" | "foreign_challenge"): CodedError {
  if (outcome === "not_found") return codedNotFound();
  if (outcome === "foreign_challenge") {
    const expected = "SHA-256 over the claimed signing inputs, joined by line feeds";
    return new CodedError(400, "invalid_request", `publicKey.challenge must be ${expected}`);
  }
  const [status, description] = refusals[outcome];
  return new CodedError(status, outcome, description);
}

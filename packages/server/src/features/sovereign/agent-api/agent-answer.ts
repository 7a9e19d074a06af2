/** The outcome of an agent's call as an HTTP response (sovereign-signing.md §5). */
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import type { ChallengeOutcome } from "../requests/challenge/challenge-user.ts";
import type { ClaimOutcome } from "../requests/claim-request.ts";
import type { LeaseRefusal } from "../requests/lease.ts";
import type { RejectOutcome } from "../requests/reject-request.ts";
import type { SignOutcome } from "../requests/sign-request.ts";

/** Undefined without a body. */
export interface AgentAnswer {
  readonly status: 200 | 202 | 204;
  readonly body?: unknown;
}

export function claimAnswer(claimed: ClaimOutcome): AgentAnswer {
  switch (claimed.outcome) {
    case "claimed": {
      const { outcome: _, ...body } = claimed;
      return { status: 200, body };
    }
    case "nothing":
      return { status: 204 };
    case "not_found":
      throw codedNotFound();
    case "not_claimable":
      throw new CodedError(409, "not_claimable", "another agent has claimed the request, or it is final");
    case "no_usable_key":
      throw new CodedError(422, "no_usable_key", "none of the keys is an active key of this agent");
  }
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
    default:
      throw leaseError(signed.outcome);
  }
}

export function challengeAnswer(challenged: ChallengeOutcome): AgentAnswer {
  switch (challenged.outcome) {
    case "challenge":
      return { status: 202, body: { status: "challenge", leaseSeconds: challenged.leaseSeconds } };
    case "not_interactive":
      throw new CodedError(409, "not_interactive", "no browser waits for this request");
    case "challenge_limit":
      throw new CodedError(409, "challenge_limit", "no further challenge is possible for this request now");
    case "foreign_challenge":
      throw new CodedError(
        400,
        "invalid_request",
        "publicKey.challenge must be SHA-256 over the claimed signing inputs, joined by line feeds",
      );
    default:
      throw leaseError(challenged.outcome);
  }
}

export function rejectAnswer(rejected: RejectOutcome): AgentAnswer {
  if (rejected.outcome === "failed" || rejected.outcome === "pending")
    return { status: 200, body: { status: rejected.outcome } };
  throw leaseError(rejected.outcome);
}

function leaseError(refusal: LeaseRefusal): CodedError {
  switch (refusal) {
    case "not_found":
      return codedNotFound();
    case "lease_lost":
      return new CodedError(409, "lease_lost", "the lease has expired, or another agent holds it");
    case "already_final":
      return new CodedError(409, "already_final", "the request is final");
    case "request_expired":
      return new CodedError(410, "request_expired", "the request has expired");
  }
}

/** What an application is told when no agent has signed for it (sovereign-signing.md §4). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import type { FailReason, RequestState } from "../signing-request.ts";

export const RETRY_SOON_SECONDS = 3;
export const RETRY_WITHOUT_AGENT_SECONDS = 30;

/** Nothing is lost: the same request again may be answered. */
export const unavailable = (
  description: string,
  retryAfterSeconds: number = RETRY_SOON_SECONDS,
): OAuthError => new OAuthError("temporarily_unavailable", description, { retryAfterSeconds });

export const noAgent = () => unavailable("no signing agent is there", RETRY_WITHOUT_AGENT_SECONDS);

const denied = (description: string) => new OAuthError("access_denied", description, { status: 400 });

/** What has become of a request, as the application is told it. */
export function signingOutcome({
  state,
  failReason,
}: {
  readonly state: RequestState;
  readonly failReason: FailReason | null;
}): SigningOutcome {
  if (state === "signed" || state === "released") return "signed";
  if (state === "failed") return signingFailure(failReason ?? "bad_signatures");
  return state === "expired" ? signingFailure(undefined) : "waiting";
}

/** @param reason undefined when the request has expired */
export function signingFailure(reason: FailReason | undefined): OAuthError {
  switch (reason) {
    case "policy_denied":
    case "challenge_failed":
      return denied("the signing agent refused");
    case "user_denied":
      return denied("the user refused");
    case "challenge_timeout":
      return denied("the user did not answer in time");
    case "step_up_required":
      return new OAuthError("interaction_required", "the signing agent wants the user to be there", {
        status: 400,
      });
    case "key_unavailable":
    case "max_attempts":
    case "bad_signatures":
      return unavailable("the signing agents could not sign");
    case undefined:
      return unavailable("no signing agent has signed in time");
  }
}

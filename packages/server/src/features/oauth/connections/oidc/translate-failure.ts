/** What openid-client refuses, as the reasons of connections.md §5. It checks in this order what is looked at here again. */
import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from "openid-client";
import { ConnectionSignInFailure, type FailureReason } from "../../../../core/connections/sign-in/failure.ts";
import { outboundFailure } from "./fetch-json.ts";

type Details = Readonly<Record<string, unknown>>;

/** @returns undefined for an error that is none of the provider's: a fault of ours */
export function translateFailure(error: unknown): ConnectionSignInFailure | undefined {
  if (error instanceof ConnectionSignInFailure) return error;
  const outbound = outboundFailure(error);
  if (outbound) return outbound;
  if (error instanceof AuthorizationResponseError) {
    const reason = error.error === "access_denied" ? "upstream-denied" : "upstream-error";
    return new ConnectionSignInFailure(reason, { detail: error.error, cause: error });
  }
  if (error instanceof ResponseBodyError)
    return new ConnectionSignInFailure("upstream-error", { detail: `token: ${error.error}`, cause: error });
  if (error instanceof WWWAuthenticateChallengeError)
    return new ConnectionSignInFailure("upstream-error", { detail: `status ${error.status}`, cause: error });
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const reason = reasonOf(String(error.code), detailsOf(error));
  return reason && new ConnectionSignInFailure(reason, { cause: error });
}

/** What is behind it: a cause of a cause, whose own cause says which claim it was. */
function detailsOf(error: Error): Details {
  let found: Details = {};
  for (let at: unknown = error.cause; at !== undefined && at !== null; at = (at as Error).cause) {
    if (at instanceof Response) return { ...found, status: at.status };
    if (!(at instanceof Error)) return { ...found, ...(at as Details) };
    found = { message: at.message, ...found };
  }
  return found;
}

const claimReasons: Readonly<Record<string, FailureReason>> = {
  iss: "issuer-mismatch",
  aud: "audience-mismatch",
  azp: "audience-mismatch",
  nonce: "nonce-mismatch",
  sub: "subject-mismatch",
  auth_time: "stale-authentication",
};

function reasonOf(code: string, details: Details): FailureReason | undefined {
  const claim = typeof details["claim"] === "string" ? details["claim"] : "";
  switch (code) {
    case "OAUTH_JWT_CLAIM_COMPARISON_FAILED":
      return claimReasons[claim] ?? "upstream-garbage";
    case "OAUTH_JWT_TIMESTAMP_CHECK_FAILED":
      return claim === "auth_time" ? "stale-authentication" : "token-expired";
    case "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED":
      return "subject-mismatch";
    case "OAUTH_RESPONSE_IS_NOT_CONFORM":
      return Number(details["status"]) >= 400 ? "upstream-error" : "upstream-garbage";
    case "OAUTH_INVALID_RESPONSE":
      return invalidResponse(details);
    case "OAUTH_RESPONSE_IS_NOT_JSON":
    case "OAUTH_PARSE_ERROR":
    case "OAUTH_JWT_USERINFO_EXPECTED":
    case "OAUTH_MISSING_SERVER_METADATA":
    case "OAUTH_INVALID_SERVER_METADATA":
    case "OAUTH_UNSUPPORTED_OPERATION":
      return "upstream-garbage";
    default:
      return undefined;
  }
}

/** A header that is not allowed, a claim that is missing, or something that is no answer at all. */
function invalidResponse(details: Details): FailureReason {
  if ("header" in details) return "algorithm-refused";
  const claims = details["claims"];
  if (typeof claims !== "object" || claims === null) return "upstream-garbage";
  const has = (claim: string) => (claims as Details)[claim] !== undefined;
  if (typeof (claims as Details)["sub"] !== "string") return "subject-missing";
  if (!has("exp") || !has("iat")) return "token-expired";
  const missing = ["iss", "aud", "nonce", "auth_time"].find((claim) => !has(claim));
  return missing === undefined ? "upstream-garbage" : (claimReasons[missing] ?? "upstream-garbage");
}

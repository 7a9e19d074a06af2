/** A refused request of an application: what is kept of it for its developer. Only the service's own words, no value of it. */
import type { OAuthError, OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";

export const refusedEndpoints = [
  "authorize",
  "token",
  "device",
  "par",
  "bc-authorize",
  "revoke",
  "introspect",
  "end_session",
  "federation/Login",
] as const;
export type RefusedEndpoint = (typeof refusedEndpoints)[number];

/** Faults whose remedy the console knows, by the `reason` of the error. */
export const refusalReasons = [
  "redirect-uri-missing",
  "redirect-uri-unregistered",
  "return-url-unregistered",
  "post-logout-redirect-uri-unregistered",
  "hint-invalid",
  "pkce-required",
  "nonce-required",
  "pkce-method",
  "response-type",
  "grant-not-allowed",
  "scope-malformed",
  "scope-not-allowed",
  "request-object",
  "resource-not-allowed",
  "secret-wrong",
  "authentication-method",
  "assertion-invalid",
  "certificate-invalid",
  "attestation-invalid",
  "code-unusable",
  "code-verifier",
  "refresh-token-unusable",
  "user-not-assigned",
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export interface RefusedRequest {
  /** Milliseconds. */
  readonly at: number;
  readonly endpoint: RefusedEndpoint;
  readonly error: OAuthErrorCode;
  readonly reason: RefusalReason | "other";
  /** The error's public description. */
  readonly description: string;
  /** The reference that the error page or problem document showed. */
  readonly requestId?: string;
}

/** Answers of a request that its developer has made right: the user's decision, a wait, or the service's own trouble. */
const notOfDevelopers: readonly OAuthErrorCode[] = [
  "access_denied",
  "account_selection_required",
  "authorization_pending",
  "consent_required",
  "expired_token",
  "interaction_required",
  "login_required",
  "server_error",
  "slow_down",
  "temporarily_unavailable",
];

const MAX_DESCRIPTION = 200;

/** @returns undefined for a refusal that no developer has to do with */
export function toRefusedRequest(
  endpoint: RefusedEndpoint,
  error: Pick<OAuthError, "code" | "reason" | "description">,
  { at, requestId }: { readonly at: number; readonly requestId: string | undefined },
): RefusedRequest | undefined {
  if (notOfDevelopers.includes(error.code)) return undefined;
  const reason = refusalReasons.find((one) => one === error.reason) ?? "other";
  return {
    at,
    endpoint,
    error: error.code,
    reason,
    description: error.description.slice(0, MAX_DESCRIPTION),
    ...(requestId === undefined ? {} : { requestId: requestId.slice(0, MAX_DESCRIPTION) }),
  };
}

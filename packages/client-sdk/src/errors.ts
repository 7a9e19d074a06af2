/**
 * Every error of the SDK is a `SignetError` with a literal code, for `switch`, logs and tests. `message` and `cause` are for the
 * log: they name URLs and settings. `description` is safe to show to the caller. None ever contains a token, a key or a cookie.
 */
import { randomBase64url } from "./base64url.ts";

/** Literal, for `switch`, logs and tests. */
export type SignetErrorCode =
  /** Invalid configuration; thrown at start. `reasons` lists every problem. */
  | "configuration"
  /** The provider can't be reached, responds with 5xx, or too late. Retry later. */
  | "provider_unreachable"
  /** The provider's response violates the standards: wrong format, too large, a redirect, another issuer. */
  | "provider_answer"
  /** The provider refused with an OAuth error (`oauthError`). */
  | "provider_refused"
  /** The response belongs to no sign-in of this browser, or to one that has expired. */
  | "login_state"
  /** No credentials, or none of the right scheme. */
  | "token_missing"
  /** Not a readable signed JWT. */
  | "token_malformed"
  /** Another type of token, e.g. an ID token instead of an access token (RFC 8725 §3.11). */
  | "token_type"
  /** `none`, a symmetric algorithm, or an algorithm that doesn't match the key. */
  | "token_algorithm"
  /** Signed with ML-DSA, which this runtime can't verify. Node.js can from 24.7 on. */
  | "token_algorithm_unsupported"
  /** The token's `kid` is unknown. */
  | "token_key_unknown"
  /** The key is known but not allowed: not pinned, too short or invalid. See `cause`. */
  | "token_key_untrusted"
  /** Invalid signature. */
  | "token_signature"
  /** Wrong issuer. */
  | "token_issuer"
  /** Of an organisation that `organisations` does not accept. */
  | "token_organisation"
  /** Issued for another audience. */
  | "token_audience"
  /** Expired more than 60 s ago. */
  | "token_expired"
  /** Valid from, or issued, more than 60 s from now. */
  | "token_not_yet_valid"
  /** A required claim is missing. */
  | "token_claim_missing"
  /** A claim is invalid; the message names it. */
  | "token_claim"
  /** The ID token belongs to another sign-in. */
  | "token_nonce"
  /** Userinfo, or a refreshed ID token, is about another user. */
  | "token_subject"
  /** Introspection says the token is not active. */
  | "token_inactive"
  /** A token bound to a key or certificate, without proof of possession (RFC 8705, RFC 9449). */
  | "token_not_proven"
  /** A scope is missing (RFC 6750 §3.1). */
  | "insufficient_scope"
  /** The user must sign in better, or again (RFC 9470). */
  | "insufficient_user_authentication"
  /** The token's signature is not in the organisation's ledger (`requireLedgerProof`): somebody signs unseen. */
  | "ledger_proof_missing"
  /** The ledger's proof is of something else, or not signed with the configured key. */
  | "ledger_proof_invalid"
  /** In the ledger, in no checkpoint that enough of the configured witnesses have cosigned. Retry later. */
  | "ledger_not_witnessed"
  /** The session key is unknown, expired or revoked. */
  | "session_key"
  /** A system account's signature is invalid, expired or replayed. */
  | "signature"
  /** A state-changing request from another site. */
  | "cross_site"
  /** The request can't be read. */
  | "request_malformed";

/** Optional details of a `SignetError`. */
export interface SignetErrorDetails {
  /** The underlying error, for the log. */
  readonly cause?: unknown;
  /** What the caller is told. Default: the message. */
  readonly description?: string;
  /** HTTP status for the response to the caller: 400, 401, 403, 502, 503 … */
  readonly status?: number;
  /** The `error` of an OAuth error response, e.g. `access_denied` (RFC 6749 §4.1.2.1, §5.2). */
  readonly oauthError?: string;
  /** Every problem of a configuration. */
  readonly reasons?: readonly string[];
  /** The problem document of the management API or the legacy API. */
  readonly problem?: Problem;
  /** Headers for the response to the caller. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem document of the management API or the legacy API (RFC 9457). */
export interface Problem {
  /** Stable, for `switch`: e.g. `not-found`, `stale`, `conflict`, `invalid`, `not-authenticated`. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** What to do next. */
  readonly detail: string | undefined;
  /** The request id, as in the service's log. */
  readonly instance: string | undefined;
  /** Invalid members: a JSON Pointer into the body, or `?name` for the query. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

/** An error of the SDK. See `SignetErrorCode` for the codes. */
export class SignetError extends Error {
  readonly code: SignetErrorCode;
  readonly description: string;
  readonly status: number;
  readonly oauthError: string | undefined;
  readonly reasons: readonly string[];
  readonly problem: Problem | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Of this error: the user's page shows nothing else of it, so that the log can be searched for what a user reports. */
  readonly reference: string;

  constructor(code: SignetErrorCode, message: string, details: SignetErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "SignetError";
    this.code = code;
    this.description = details.description ?? message;
    this.status = details.status ?? defaultStatus(code);
    this.oauthError = details.oauthError;
    this.reasons = details.reasons ?? [];
    this.problem = details.problem;
    this.headers = details.headers;
    this.reference = randomBase64url(6);
  }
}

/** Both issuers, and which setting to check. @param found somebody else's text */
export function otherIssuer(
  code: SignetErrorCode,
  description: string,
  found: unknown,
  { expected, setting }: { readonly expected: string; readonly setting: string },
): SignetError {
  const shown = String(found)
    .slice(0, 200)
    .replace(/[^\x21-\x7e]/g, "?");
  const message = `${description}: ${shown}, not ${expected}. Check ${setting}.`;
  return new SignetError(code, message, { description: `${description}.` });
}

export const configurationError = (...reasons: readonly string[]): SignetError =>
  new SignetError("configuration", `Invalid configuration: ${reasons.join(" ")}`, { reasons });

function defaultStatus(code: SignetErrorCode): number {
  if (code === "provider_unreachable" || code === "ledger_not_witnessed") return 503;
  if (code === "provider_answer" || code === "provider_refused" || code === "ledger_proof_invalid")
    return 502;
  if (code === "configuration") return 500;
  if (code === "insufficient_scope" || code === "cross_site") return 403;
  return code === "login_state" || code === "request_malformed" ? 400 : 401;
}

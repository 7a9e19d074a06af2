/**
 * Every refusal of the SDK is a `SignetError` with a literal code: for `switch`, for logs and for tests. `message` may be
 * shown to a caller; what is behind it is in `cause`, for the log. Neither ever holds a token, a key or a cookie.
 */
export type SignetErrorCode =
  /** The configuration cannot work; thrown at the start. `reasons` has every fault. */
  | "configuration"
  /** The provider cannot be reached, answers with 5xx or too late: try again later. */
  | "provider_unreachable"
  /** The provider's answer is not what the standards say: wrong form, too large, a redirect, another issuer. */
  | "provider_answer"
  /** The provider refused, with an OAuth error of its own (`oauthError`). */
  | "provider_refused"
  /** The answer belongs to no sign-in that this browser has begun, or to one too old. */
  | "login_state"
  /** No credentials, or none of the right scheme. */
  | "token_missing"
  /** Not a signed JWT that can be read. */
  | "token_malformed"
  /** Another kind of token, e.g. an ID token where an access token is expected (RFC 8725 §3.11). */
  | "token_type"
  /** `none`, a shared secret, or an algorithm that does not fit the key. */
  | "token_algorithm"
  /** Nobody knows the key that the token names. */
  | "token_key_unknown"
  /** The key is known and may not be used: not pinned, too short or broken. `cause` tells. */
  | "token_key_untrusted"
  /** The signature does not hold. */
  | "token_signature"
  /** Another issuer than the configured one. */
  | "token_issuer"
  /** Made out to somebody else. */
  | "token_audience"
  /** It ended, more than 60 s ago. */
  | "token_expired"
  /** It begins, or was issued, more than 60 s from now. */
  | "token_not_yet_valid"
  /** A claim that must be there is not. */
  | "token_claim_missing"
  /** A claim is wrong: the message names it. */
  | "token_claim"
  /** The ID token belongs to another sign-in. */
  | "token_nonce"
  /** Userinfo, or a refreshed ID token, is about another user. */
  | "token_subject"
  /** Introspection says that the token is not active (any more). */
  | "token_inactive"
  /** A token bound to a key or a certificate, without the proof of it (RFC 8705, RFC 9449). */
  | "token_not_proven"
  /** A scope is missing (RFC 6750 §3.1). */
  | "insufficient_scope"
  /** A session key that the service does not know (any more). */
  | "session_key"
  /** A signature of a system account that does not hold, is late or comes twice. */
  | "signature"
  /** A state-changing request from another site. */
  | "cross_site"
  /** The request cannot be read. */
  | "request_malformed";

/** What a `SignetError` is made with beside its code and its message. */
export interface SignetErrorDetails {
  /** What is behind it, for the log. */
  readonly cause?: unknown;
  /** For an answer to the caller: 400, 401, 403, 502, 503 … */
  readonly status?: number;
  /** The `error` of an OAuth answer, e.g. `access_denied` (RFC 6749 §4.1.2.1, §5.2). */
  readonly oauthError?: string;
  /** All faults of a configuration. */
  readonly reasons?: readonly string[];
  /** What the management API or the legacy API has answered. */
  readonly problem?: Problem;
  /** For the answer to the caller: the error handlers of Express and Fastify send them by themselves. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal of the service's management API or legacy API (RFC 9457). */
export interface Problem {
  /** Stable, for `switch`: e.g. `not-found`, `stale`, `conflict`, `invalid`, `not-authenticated`. */
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** What to do next. */
  readonly detail: string | undefined;
  /** The id of the request, as the service's log has it. */
  readonly instance: string | undefined;
  /** Members that are wrong: a JSON Pointer into the body, or `?name` for the query. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

/** A refusal of the SDK. See `SignetErrorCode` for what each code means. */
export class SignetError extends Error {
  readonly code: SignetErrorCode;
  readonly status: number;
  readonly oauthError: string | undefined;
  readonly reasons: readonly string[];
  readonly problem: Problem | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: SignetErrorCode, message: string, details: SignetErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "SignetError";
    this.code = code;
    this.status = details.status ?? statusOf(code);
    this.oauthError = details.oauthError;
    this.reasons = details.reasons ?? [];
    this.problem = details.problem;
    this.headers = details.headers;
  }
}

function statusOf(code: SignetErrorCode): number {
  if (code === "provider_unreachable") return 503;
  if (code === "provider_answer" || code === "provider_refused") return 502;
  if (code === "configuration") return 500;
  if (code === "insufficient_scope" || code === "cross_site") return 403;
  return code === "login_state" || code === "request_malformed" ? 400 : 401;
}

/** Every error code that the OAuth and OpenID Connect endpoints may answer with, grouped by the document that defines it. */
export type OAuthErrorCode =
  // RFC 6749 §4.1.2.1 and §5.2
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied"
  | "server_error"
  | "temporarily_unavailable"
  // RFC 6750 §3.1
  | "invalid_token"
  | "insufficient_scope"
  // RFC 7591 §3.2.2
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "invalid_software_statement"
  | "unapproved_software_statement"
  // RFC 7009 §2.2.1
  | "unsupported_token_type"
  // RFC 8628 §3.5
  | "authorization_pending"
  | "slow_down"
  | "expired_token"
  // OpenID Connect CIBA Core 1.0 §13
  | "unknown_user_id"
  | "invalid_binding_message"
  // RFC 8707 §2
  | "invalid_target"
  // OpenID Connect Core §3.1.2.6; the request object codes are also those of RFC 9101 §7 and RFC 9126 §2.3
  | "interaction_required"
  | "login_required"
  | "account_selection_required"
  | "consent_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "registration_not_supported"
  | "invalid_request_uri"
  | "invalid_request_object"
  // RFC 9396 §5
  | "invalid_authorization_details"
  // RFC 9449 §5, §8, §12.2
  | "invalid_dpop_proof"
  | "use_dpop_nonce"
  // RFC 9470 §3
  | "insufficient_user_authentication"
  // OpenID Connect Unmet Authentication Requirements 1.0 §3
  | "unmet_authentication_requirements";

const statusOf: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  invalid_token: 401,
  insufficient_user_authentication: 401,
  insufficient_scope: 403,
  server_error: 500,
  temporarily_unavailable: 503,
};

export interface OAuthErrorOptions {
  /** A stable identifier of the fault, which pages translate. */
  reason?: string;
  /** HTTP status; the default is the one that the code's document asks for, else 400. */
  status?: number;
  /** The private cause, for the log only. */
  cause?: unknown;
  retryAfterSeconds?: number;
  /** A complete challenge from `bearerChallenge`. */
  wwwAuthenticate?: string;
  /** More response headers, with lower-case names. */
  headers?: Readonly<Record<string, string>>;
}

/** An OAuth error: the code, a public description and a private cause. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  readonly description: string;
  readonly status: number;
  /** As in the options. */
  readonly reason?: string;
  /** Response headers with lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;

  constructor(code: OAuthErrorCode, description: string, options: OAuthErrorOptions = {}) {
    super(description, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.description = printableDescription(description);
    this.status = options.status ?? statusOf[code] ?? 400;
    if (options.reason !== undefined) this.reason = options.reason;
    const headers = headersOf(options);
    if (headers) this.headers = headers;
  }

  /** The same error with more response headers, whose names are in lower case. */
  withHeaders(more: Readonly<Record<string, string>>): OAuthError {
    const { code, description, status, reason } = this;
    return new OAuthError(code, description, {
      status,
      ...("cause" in this ? { cause: this.cause } : {}),
      ...(reason === undefined ? {} : { reason }),
      headers: { ...this.headers, ...more },
    });
  }
}

function headersOf({ retryAfterSeconds, wwwAuthenticate, headers: others }: OAuthErrorOptions) {
  const headers: Record<string, string> = { ...others };
  // RFC 9110 §10.2.3 wants whole seconds; rounded down, the retry would come too early.
  if (retryAfterSeconds !== undefined)
    headers["retry-after"] = String(Math.max(0, Math.ceil(retryAfterSeconds)));
  if (wwwAuthenticate !== undefined) headers["www-authenticate"] = wwwAuthenticate;
  return Object.keys(headers).length === 0 ? undefined : headers;
}

/**
 * The text in the characters that RFC 6749 §5.2 and RFC 6750 §3 allow: printable ASCII without quote and backslash, safe in a
 * quoted header parameter.
 */
export function printableDescription(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, (character) => substitutes[character] ?? "?");
}

const substitutes: Readonly<Record<string, string>> = { '"': "'", "\\": "/" };

/** The JSON body of an error response (RFC 6749 §5.2). */
export function oauthErrorBody(error: OAuthError): { error: OAuthErrorCode; error_description: string } {
  return { error: error.code, error_description: error.description };
}

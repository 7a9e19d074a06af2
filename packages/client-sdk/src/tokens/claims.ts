/** The claims of a verified token (RFC 7519 §4.1). `verifyJwt` has checked the types of the named ones. */
export interface Claims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string | readonly string[];
  /** Seconds since the epoch, like all times in a token. */
  readonly exp?: number;
  readonly nbf?: number;
  readonly iat?: number;
  readonly jti?: string;
  readonly [name: string]: unknown;
}

/** The claims of an ID token or access token, where these are always present. */
export interface SubjectClaims extends Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat: number;
}

/** `aud` as a list (RFC 7519 §4.1.3: a single audience may be a string). */
export function audienceList({ aud }: Claims): readonly string[] {
  if (aud === undefined) return [];
  return typeof aud === "string" ? [aud] : aud;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

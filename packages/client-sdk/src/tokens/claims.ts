/** The claims of a verified token (RFC 7519 §4.1). `verifyJwt` has checked the types of those that have a name here. */
export interface Claims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string | readonly string[];
  /** Seconds since the epoch, as all times in a token. */
  readonly exp?: number;
  readonly nbf?: number;
  readonly iat?: number;
  readonly jti?: string;
  readonly [name: string]: unknown;
}

/** Of an ID token or an access token: these are always there. */
export interface SubjectClaims extends Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat: number;
}

/** `aud` as a list (RFC 7519 §4.1.3: one audience may stand alone). */
export function audiencesOf(claims: Claims): readonly string[] {
  if (claims.aud === undefined) return [];
  return typeof claims.aud === "string" ? [claims.aud] : claims.aud;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

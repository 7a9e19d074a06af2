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

type Present<Members> = string extends keyof Members
  ? Record<string, Exclude<Members[keyof Members], undefined>>
  : { [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name] } & {
      [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
        Members[Name],
        undefined
      >;
    };

/** Without members that are undefined, so that `in`, JSON and forms don't show them. */
export const withoutUndefined = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<Members>;

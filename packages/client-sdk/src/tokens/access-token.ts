/** Access tokens that are JWTs (RFC 9068). */
import { SignetError } from "../errors.ts";
import type { Claims, SubjectClaims } from "./claims.ts";
import type { KeySource } from "./key-source.ts";
import { verifyJwt } from "./verify-jwt.ts";

/** What an access token is held against. */
export interface AccessTokenChecks {
  readonly keys: KeySource;
  readonly issuer: string;
  /** The API itself: must be among the token's `aud` (RFC 9068 §4). */
  readonly audience: string;
  /** Accept tokens whose `typ` is `JWT` or absent, as some providers write them. Never an ID token. */
  readonly allowUntyped: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** RFC 9068 §2.2. */
const required = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"];
/** What providers that do not know RFC 9068 give as well. */
const requiredUntyped = ["iss", "exp", "aud", "sub", "iat"];

/**
 * The claims of a verified access token. A binding to a key or a certificate (`cnf`) and scopes are the filter's to check.
 * Throws `SignetError`: `token_…`, or `provider_…` when its key cannot be fetched.
 *
 * @example
 * const { keys } = createProvider({ issuer, clock: Date.now, http: createHttp({}, { environment: "production" }) });
 * const { sub } = await verifyAccessToken(token, { keys, issuer, audience, allowUntyped: false, clock: Date.now });
 */
export async function verifyAccessToken(token: string, checks: AccessTokenChecks): Promise<SubjectClaims> {
  const { header, claims } = await verifyJwt(token, {
    keys: checks.keys,
    issuer: checks.issuer,
    audience: checks.audience,
    types: checks.allowUntyped ? ["at+jwt", "JWT", ""] : ["at+jwt"],
    clock: checks.clock,
    required: checks.allowUntyped ? requiredUntyped : required,
  });
  const isTyped = /^(?:application\/)?at\+jwt$/i.test(header.typ ?? "");
  if (!isTyped && looksLikeIdToken(claims))
    throw new SignetError("token_type", "An ID token is not an access token.");
  return claims as SubjectClaims;
}

/**
 * Claims that only ID tokens have (OpenID Connect Core §2, §3.3.2.11), and the marks of Amazon Cognito and Keycloak: without
 * `typ` they are all that tells the two apart, apart from the audience.
 */
function looksLikeIdToken(claims: Claims): boolean {
  const isMarked = claims["token_use"] === "id" || claims["typ"] === "ID";
  return isMarked || ["nonce", "at_hash", "c_hash", "s_hash"].some((name) => name in claims);
}

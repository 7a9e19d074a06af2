/** JWT access tokens (RFC 9068). */
import { SignetError } from "../errors.ts";
import type { LedgerProofs } from "../ledger/ledger-proofs.ts";
import type { Claims, SubjectClaims } from "./claims.ts";
import { type KeySource, verifyJwt } from "./verify-jwt.ts";

/** What an access token must match. */
export interface AccessTokenChecks {
  readonly keys: KeySource;
  /** Compared exactly. */
  readonly issuer: string;
  /** The API itself: must be among the token's `aud` (RFC 9068 §4). */
  readonly audience: string;
  /** Accept a `typ` of `JWT` or none, as some providers issue. Never an ID token. */
  readonly allowUntyped: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Demands that the token's signature is in the ledger (`createLedgerProofs`). Default: not looked at. */
  readonly ledger?: LedgerProofs | undefined;
}

/** RFC 9068 §2.2. */
const requiredClaims = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"];
/** What providers without RFC 9068 issue too. */
const requiredUntypedClaims = ["iss", "exp", "aud", "sub", "iat"];

/**
 * Verifies an access token. Bindings to a key or certificate (`cnf`) and scopes are left to the caller.
 * @throws SignetError `token_…`, or `provider_…` if the key can't be fetched
 * @example
 * const { keys } = createProvider({ issuer, clock: Date.now, http: createHttp({}, { environment: "production" }) });
 * const { sub } = await verifyAccessToken(token, { keys, issuer, audience, allowUntyped: false, clock: Date.now });
 */
export async function verifyAccessToken(token: string, checks: AccessTokenChecks): Promise<SubjectClaims> {
  const { allowUntyped, ledger, ...expected } = checks;
  const { header, claims } = await verifyJwt(token, {
    ...expected,
    types: allowUntyped ? ["at+jwt", "JWT", ""] : ["at+jwt"],
    requiredClaims: allowUntyped ? requiredUntypedClaims : requiredClaims,
  });
  const isTyped = /^(?:application\/)?at\+jwt$/i.test(header.typ ?? "");
  if (!isTyped && looksLikeIdToken(claims))
    throw new SignetError("token_type", "An ID token is not an access token.");
  await ledger?.require({ token, kind: "access_token", kid: header.kid, claims });
  return claims as SubjectClaims;
}

/** Claims only ID tokens have (OpenID Connect Core §2, §3.3.2.11), and the markers of Amazon Cognito and Keycloak. */
function looksLikeIdToken(claims: Claims): boolean {
  const isMarked = claims["token_use"] === "id" || claims["typ"] === "ID";
  return isMarked || ["nonce", "at_hash", "c_hash", "s_hash"].some((name) => name in claims);
}

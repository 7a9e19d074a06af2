/** ID tokens (OpenID Connect Core §2, §3.1.3.7). */
import { base64url } from "jose";
import { SignetError } from "../errors.ts";
import type { AccessTokenChecks } from "./access-token.ts";
import { leftHalfHash } from "./algorithms.ts";
import { audienceList, type Claims, type SubjectClaims } from "./claims.ts";
import { TOLERANCE_SECONDS, type VerifiedJwt, verifyJwt } from "./verify-jwt.ts";

/** What an ID token must match. */
export interface IdTokenChecks extends Pick<AccessTokenChecks, "keys" | "issuer" | "clock" | "ledger"> {
  readonly clientId: string;
  /** The algorithm registered for the client (OpenID Connect Core §3.1.3.7 step 7). Undefined: any that fits the key. */
  readonly algorithm?: string | undefined;
  /** Of the authorization request; undefined if none was sent, as with a refresh. */
  readonly nonce?: string | undefined;
  /** The access token issued with it, checked against `at_hash` if present. */
  readonly accessToken?: string | undefined;
  /** The authorization request's `max_age`. */
  readonly maxAgeSeconds?: number | undefined;
}

/** Verifies an ID token. @throws SignetError `token_…`, or `provider_…` if the key can't be fetched */
export async function verifyIdToken(token: string, checks: IdTokenChecks): Promise<SubjectClaims> {
  const { keys, issuer, clientId, algorithm, nonce, accessToken, maxAgeSeconds, clock, ledger } = checks;
  const verified = await verifyJwt(token, {
    ...{ keys, issuer, audience: clientId, algorithm, clock },
    // Providers write `JWT` or nothing. Access tokens (RFC 9068) and logout tokens have their own types.
    types: ["JWT", ""],
    requiredClaims: ["iss", "sub", "aud", "exp", "iat"],
  });
  const { claims } = verified;
  checkAuthorizedParty(claims, clientId);
  if (nonce !== undefined && claims["nonce"] !== nonce)
    throw new SignetError("token_nonce", "The ID token belongs to another sign-in.");
  if (maxAgeSeconds !== undefined) checkAge(claims, maxAgeSeconds, clock() / 1000);
  if (accessToken !== undefined) await checkAccessTokenHash(verified, accessToken);
  await ledger?.require({ token, kind: "id_token", kid: verified.header.kid, claims });
  return claims as SubjectClaims;
}

/** §3.1.3.7 steps 3 to 5: `azp` is required with several audiences, and if present must be this client. */
function checkAuthorizedParty(claims: Claims, clientId: string): void {
  const { azp } = claims;
  const isOurs = azp === undefined ? audienceList(claims).length === 1 : azp === clientId;
  if (!isOurs) throw new SignetError("token_audience", "The ID token was issued to another party.");
}

function checkAge({ auth_time: authTime }: Claims, maxAgeSeconds: number, now: number): void {
  if (authTime === undefined)
    throw new SignetError("token_claim_missing", "The ID token has no auth_time claim.");
  if (typeof authTime !== "number" || now > authTime + maxAgeSeconds + TOLERANCE_SECONDS)
    throw new SignetError("token_claim", "The user's authentication is older than max_age.");
}

/** §3.1.3.8: optional in the code flow, but must be correct if present. */
async function checkAccessTokenHash({ header, claims }: VerifiedJwt, accessToken: string): Promise<void> {
  const { at_hash: expected } = claims;
  if (expected === undefined) return;
  const hash = await leftHalfHash(accessToken, header.alg);
  if (hash && expected !== base64url.encode(hash))
    throw new SignetError("token_claim", "The ID token belongs to another access token (at_hash).");
}

/** ID tokens (OpenID Connect Core §2, §3.1.3.7). */
import { base64url } from "jose";
import { SignetError } from "../errors.ts";
import { claimDigestOf } from "./algorithms.ts";
import { audiencesOf, type Claims, type SubjectClaims } from "./claims.ts";
import type { KeySource } from "./key-source.ts";
import { type VerifiedJwt, verifyJwt } from "./verify-jwt.ts";

/** What an ID token is held against. */
export interface IdTokenChecks {
  readonly keys: KeySource;
  readonly issuer: string;
  readonly clientId: string;
  /** What the authorization request had; undefined where none was sent, as for the ID token of a refresh. */
  readonly nonce?: string | undefined;
  /** The access token that came along: checked against `at_hash`, where the ID token has one. */
  readonly accessToken?: string | undefined;
  /** What the authorization request demanded as `max_age`. */
  readonly maxAgeSeconds?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

const TOLERANCE_SECONDS = 60;

/** The claims of a verified ID token. Throws `SignetError`: `token_…`, or `provider_…` when its key cannot be fetched. */
export async function verifyIdToken(token: string, checks: IdTokenChecks): Promise<SubjectClaims> {
  const verified = await verifyJwt(token, {
    keys: checks.keys,
    issuer: checks.issuer,
    audience: checks.clientId,
    // Providers write `JWT` or nothing. An access token (RFC 9068) or a logout token names its own type.
    types: ["JWT", ""],
    clock: checks.clock,
    toleranceSeconds: TOLERANCE_SECONDS,
    required: ["iss", "sub", "aud", "exp", "iat"],
  });
  const { claims } = verified;
  checkParty(claims, checks.clientId);
  if (checks.nonce !== undefined && claims["nonce"] !== checks.nonce)
    throw new SignetError("token_nonce", "The ID token belongs to another sign-in.");
  if (checks.maxAgeSeconds !== undefined) checkAge(claims, checks.maxAgeSeconds, checks.clock() / 1000);
  if (checks.accessToken !== undefined) await checkAccessTokenHash(verified, checks.accessToken);
  return claims as SubjectClaims;
}

/** §3.1.3.7 steps 3 to 5: for several audiences `azp` must say that it is ours; where it is given, it must be us. */
function checkParty(claims: Claims, clientId: string): void {
  const { azp } = claims;
  const isOurs = azp === undefined ? audiencesOf(claims).length === 1 : azp === clientId;
  if (!isOurs) throw new SignetError("token_audience", "The ID token was issued to another party.");
}

function checkAge({ auth_time: authTime }: Claims, maxAgeSeconds: number, now: number): void {
  if (authTime === undefined)
    throw new SignetError("token_claim_missing", "The ID token has no claim auth_time.");
  if (typeof authTime !== "number" || now > authTime + maxAgeSeconds + TOLERANCE_SECONDS)
    throw new SignetError("token_claim", "The user's sign-in is older than was asked for.");
}

/** §3.1.3.8: optional in the code flow, but right when it is there. */
async function checkAccessTokenHash({ header, claims }: VerifiedJwt, accessToken: string): Promise<void> {
  const { at_hash: expected } = claims;
  const digest = claimDigestOf(header.alg);
  if (expected === undefined || !digest) return;
  const hash = new Uint8Array(await crypto.subtle.digest(digest, new TextEncoder().encode(accessToken)));
  if (expected !== base64url.encode(hash.subarray(0, hash.length / 2)))
    throw new SignetError("token_claim", "The ID token belongs to another access token (at_hash).");
}

/**
 * Reading our own access tokens back: the signature is checked once per token and kept in a small bounded cache (a
 * resource server asks about the same token again and again); whether it still stands is looked up every time.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { verifyJws } from "@signet/protocol/jws";
import type { Database } from "../../db/open.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { type Clock, seconds } from "../clock.ts";
import { issuerOf, type Organisation } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { type AccessTokenClaims, familyOfTokenId } from "./claims.ts";
import { isAccessTokenRevoked, isFamilyTokenGood } from "./store.ts";

export interface AccessTokens {
  /**
   * The claims of a token that this organisation signed and that has not expired; revocation is not looked at.
   * Undefined for everything else.
   */
  read(organisation: Organisation, token: string): Promise<AccessTokenClaims | undefined>;
  /** Whether the token, its family, its client and its user all still stand. */
  stands(organisation: Organisation, claims: AccessTokenClaims): Promise<boolean>;
}

export interface AccessTokenDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly keys: SigningKeys;
  readonly applications: ApplicationDirectory;
}

interface Verified {
  readonly kid: string;
  readonly claims: AccessTokenClaims;
}

const CACHED_TOKENS = 10_000;

export function accessTokens(deps: AccessTokenDeps): AccessTokens {
  const verified = new Map<string, Verified>();

  const verify = async (organisation: Organisation, token: string) => {
    const cacheKey = sha256Base64url(token);
    const keys = await deps.keys.published(organisation.id);
    const known = verified.get(cacheKey);
    // A key that was taken out of the JWKS takes its tokens with it, cached or not.
    if (known && keys.some(({ kid }) => kid === known.kid)) return known.claims;
    const jws = verifyJws(token, (kid, alg) => keys.find((key) => key.kid === kid && key.alg === alg), {
      typ: ["at+jwt"],
    });
    if (!jws) return undefined;
    const claims = jws.payload as unknown as AccessTokenClaims;
    if (verified.size >= CACHED_TOKENS) verified.delete(verified.keys().next().value as string);
    verified.set(cacheKey, { kid: String(jws.header.kid), claims });
    return claims;
  };

  return {
    read: async (organisation, token) => {
      const claims = await verify(organisation, token);
      if (!claims || claims.iss !== issuerOf(deps.baseUrl, organisation.id)) return undefined;
      return claims.exp > seconds(deps.clock()) ? claims : undefined;
    },
    stands: async (organisation, { client_id, jti }) => {
      if (!(await deps.applications.find(organisation.id, client_id))) return false;
      const familyId = familyOfTokenId(jti);
      const db = deps.database.query;
      if (familyId === undefined) return !(await isAccessTokenRevoked(db, organisation.id, jti));
      return isFamilyTokenGood(db, { orgId: organisation.id, familyId, jti });
    },
  };
}

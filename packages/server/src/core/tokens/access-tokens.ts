/**
 * Verifying access tokens that Signet issued. The signature is checked once per token and cached, because a resource server
 * asks about the same token often; revocation is looked up every time.
 */

import { sha256Base64url } from "@signet/protocol/hash";
import { decodeJwsUnverified, verifyJws } from "@signet/protocol/jose/jws";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { seconds } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import { findDevice } from "../devices/devices.store.ts";
import { issuerOf, type Organisation } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { verifyAgentToken } from "../signing-pools/agent-key.ts";
import type { SigningPoolDirectory } from "../signing-pools/directory.ts";
import { signingPoolIssuer } from "../signing-pools/signing-pool.ts";
import { readAgentClaims } from "./agent-claims.ts";
import type { AccessTokenClaims } from "./claims.ts";
import { familyIdFromTokenId } from "./token-family.ts";
import { findActiveTokenScopes, isAccessTokenRevoked } from "./tokens.store.ts";

export interface AccessTokens {
  /**
   * The claims of an unexpired token that this organisation or an agent of its pools signed; undefined for anything else.
   * Does not check revocation.
   */
  read(organisation: Organisation, token: string): Promise<AccessTokenClaims | undefined>;
  /**
   * The scopes of the token that were granted to its client: an agent may sign more than that.
   * @returns undefined when the token or its family, client, user or device is revoked, disabled or deleted
   */
  activeScopes(organisation: Organisation, claims: AccessTokenClaims): Promise<readonly string[] | undefined>;
}

export interface AccessTokenDeps extends CoreDeps {
  readonly baseUrl: string;
  readonly keys: SigningKeys;
  readonly signingPools: SigningPoolDirectory;
  readonly applications: ApplicationDirectory;
}

interface Verified {
  readonly kid: string;
  readonly claims: AccessTokenClaims;
}

/** A key that the organisation publishes, and the issuer that its tokens must name. */
interface TrustedKey {
  readonly kid: string;
  readonly issuer: string;
  /** The pool whose agent has the key; undefined for the organisation's own. */
  readonly poolId?: string;
  verify(token: string): AccessTokenClaims | undefined;
}

const CACHED_TOKENS = 10_000;

export function accessTokens(deps: AccessTokenDeps): AccessTokens {
  const verified = new Map<string, Verified>();

  const verify = (cacheKey: string, token: string, key: TrustedKey) => {
    const claims = key.verify(token);
    if (!claims) return undefined;
    if (verified.size >= CACHED_TOKENS) verified.delete(verified.keys().next().value as string);
    verified.set(cacheKey, { kid: key.kid, claims });
    return claims;
  };

  return {
    read: async (organisation, token) => {
      const cacheKey = sha256Base64url(token);
      const known = verified.get(cacheKey);
      const kid = known?.kid ?? decodeJwsUnverified(token)?.header["kid"];
      // Tokens of a key that left the JWKS are rejected, cached or not.
      const key = (await localKey(deps, organisation, kid)) ?? (await agentKey(deps, organisation, kid));
      const claims = key && (known?.claims ?? verify(cacheKey, token, key));
      // Written so that a missing `exp` fails too.
      if (!claims || claims.iss !== key.issuer || !(claims.exp > seconds(deps.clock()))) return undefined;
      return (await signsForPool(deps, claims, key, organisation)) ? claims : undefined;
    },
    activeScopes: async ({ id: orgId }, { client_id, jti, sub, device_id, scope }) => {
      const application = await deps.applications.find(orgId, client_id);
      if (!application) return undefined;
      if (device_id !== undefined && !(await isDeviceActive(deps, orgId, device_id))) return undefined;
      const familyId = familyIdFromTokenId(jti);
      const db = deps.database.query;
      const granted =
        familyId !== undefined
          ? await findActiveTokenScopes(db, { orgId, familyId, jti, userId: sub, applicationId: client_id })
          : (await isAccessTokenRevoked(db, orgId, jti))
            ? undefined
            : application.settings.allowedScopes;
      return granted && (scope?.split(" ") ?? []).filter((one) => granted.includes(one));
    },
  };
}

/** A revoked device ends its tokens, client credentials tokens included. */
async function isDeviceActive({ database }: AccessTokenDeps, orgId: string, id: string): Promise<boolean> {
  const device = await findDevice(database.query, orgId, id);
  return device !== undefined && device.revokedAt === null;
}

async function localKey(
  { keys, baseUrl }: AccessTokenDeps,
  { id }: Organisation,
  kid: unknown,
): Promise<TrustedKey | undefined> {
  const key = (await keys.published(id)).find((one) => one.kid === kid);
  if (!key) return undefined;
  const typ = ["at+jwt"];
  return {
    kid: key.kid,
    issuer: issuerOf(baseUrl, id),
    verify: (token) => {
      const read = verifyJws(token, (named) => (named === key.kid ? key : undefined), { typ });
      // Signet signs these claims itself, so their shape is known.
      return read?.payload as unknown as AccessTokenClaims | undefined;
    },
  };
}

async function agentKey(
  { signingPools, baseUrl, clock }: AccessTokenDeps,
  { id }: Organisation,
  kid: unknown,
): Promise<TrustedKey | undefined> {
  if (typeof kid !== "string") return undefined;
  const published = (await signingPools.published(id)).find(({ key }) => key.kid === kid);
  if (!published) return undefined;
  const { key, pool, publicKey } = published;
  return {
    kid: key.kid,
    poolId: pool.id,
    issuer: signingPoolIssuer(baseUrl, pool),
    verify: (token) => {
      const payload = verifyAgentToken(token, { publicKey, alg: key.alg });
      const limits = { now: seconds(clock()), maxLifetimeSeconds: pool.maxTokenLifetimeSeconds };
      return payload && readAgentClaims(payload, limits);
    },
  };
}

/** An agent's key is trusted for the applications of its pool only. */
async function signsForPool(
  { applications }: AccessTokenDeps,
  { client_id }: AccessTokenClaims,
  { poolId }: TrustedKey,
  { id }: Organisation,
): Promise<boolean> {
  if (poolId === undefined) return true;
  const application = typeof client_id === "string" ? await applications.find(id, client_id) : undefined;
  return application?.settings.signingPoolId === poolId;
}

/**
 * Reading our own access tokens back: the signature is checked once per token and kept in a small bounded cache (a
 * resource server asks about the same token again and again); whether it still stands is looked up every time.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { decodeJwsUnverified, verifyJws } from "@signet/protocol/jose/jws";
import type { Database } from "../../db/open.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { type Clock, seconds } from "../clock.ts";
import { findDevice } from "../devices/devices.store.ts";
import { issuerOf, type Organisation } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { verifyAgentToken } from "../signing-pools/agent-token.ts";
import type { SigningPoolDirectory } from "../signing-pools/directory.ts";
import { issuerOfPool } from "../signing-pools/signing-pool.ts";
import { agentClaims } from "./agent-claims.ts";
import type { AccessTokenClaims } from "./claims.ts";
import { familyOfTokenId } from "./token-family.ts";
import { isAccessTokenRevoked, isFamilyTokenGood } from "./tokens.store.ts";

export interface AccessTokens {
  /**
   * The claims of a token that this organisation, or an agent of its pools, signed and that has not expired; revocation
   * is not looked at. Undefined for everything else.
   */
  read(organisation: Organisation, token: string): Promise<AccessTokenClaims | undefined>;
  /** Whether the token, its family, its client, its user and its device all still stand. */
  stands(organisation: Organisation, claims: AccessTokenClaims): Promise<boolean>;
}

export interface AccessTokenDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly keys: SigningKeys;
  readonly signingPools: SigningPoolDirectory;
  readonly applications: ApplicationDirectory;
}

interface Verified {
  readonly kid: string;
  readonly claims: AccessTokenClaims;
}

/** A key that the organisation publishes, and what tokens by it must say. */
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
      // A key that was taken out of the JWKS takes its tokens with it, cached or not.
      const key = (await ownKey(deps, organisation, kid)) ?? (await agentKey(deps, organisation, kid));
      const claims = key && (known?.claims ?? verify(cacheKey, token, key));
      // Also what has no end is not in time.
      if (!claims || claims.iss !== key.issuer || !(claims.exp > seconds(deps.clock()))) return undefined;
      return (await isOfPool(deps, claims, key, organisation)) ? claims : undefined;
    },
    stands: async (organisation, { client_id, jti, sub, device_id }) => {
      if (!(await deps.applications.find(organisation.id, client_id))) return false;
      if (device_id !== undefined && !(await isDeviceGood(deps, organisation.id, device_id))) return false;
      const familyId = familyOfTokenId(jti);
      const db = deps.database.query;
      if (familyId === undefined) return !(await isAccessTokenRevoked(db, organisation.id, jti));
      const whose = { userId: sub, applicationId: client_id };
      return isFamilyTokenGood(db, { orgId: organisation.id, familyId, jti, ...whose });
    },
  };
}

/** A revoked device's tokens end with it, those that belong to no sign-in among them. */
async function isDeviceGood({ database }: AccessTokenDeps, orgId: string, id: string): Promise<boolean> {
  const device = await findDevice(database.query, orgId, id);
  return device !== undefined && device.revokedAt === null;
}

async function ownKey(
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
      // What the service signed itself has the members that it writes.
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
  const found = (await signingPools.published(id)).find(({ key }) => key.kid === kid);
  if (!found) return undefined;
  const { key, pool, publicKey } = found;
  return {
    kid: key.kid,
    poolId: pool.id,
    issuer: issuerOfPool(baseUrl, pool),
    verify: (token) => {
      const payload = verifyAgentToken(token, { publicKey, alg: key.alg });
      const limits = { now: seconds(clock()), longestSeconds: pool.maxTokenLifetimeSeconds };
      return payload && agentClaims(payload, limits);
    },
  };
}

/** An agent has a say for the applications of its pool alone: else any agent could sign for all of the organisation's. */
async function isOfPool(
  { applications }: AccessTokenDeps,
  { client_id }: AccessTokenClaims,
  { poolId }: TrustedKey,
  { id }: Organisation,
): Promise<boolean> {
  if (poolId === undefined) return true;
  const application = typeof client_id === "string" ? await applications.find(id, client_id) : undefined;
  return application?.settings.signingPoolId === poolId;
}

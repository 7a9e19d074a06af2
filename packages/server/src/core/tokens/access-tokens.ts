/**
 * Verifying access tokens that Signet issued. The signature is checked once per token and cached, because a resource server
 * asks about the same token often; revocation is looked up every time.
 */

import { sha256Base64url } from "@signet/protocol/hash";
import { decodeJwsUnverified, verifyJws } from "@signet/protocol/jose/jws";
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { seconds } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import { findDevice } from "../devices/devices.store.ts";
import { issuerOf, type Organisation } from "../organisations/organisation.ts";
import type { EntitlementDirectory } from "../roles/entitlements.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../scopes/custom-scopes.ts";
import { stillDefined } from "../scopes/scope-definitions.ts";
import { grantableScopes, standardScopes } from "../scopes/scopes.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { verifyAgentToken } from "../signing-pools/agent-key.ts";
import type { SigningPoolDirectory } from "../signing-pools/directory.ts";
import { signingPoolIssuer } from "../signing-pools/signing-pool.ts";
import { readAgentClaims } from "./agent-claims.ts";
import type { AccessTokenClaims } from "./claims.ts";
import { findOpaqueToken } from "./opaque-tokens.store.ts";
import { OPAQUE_TOKEN_PREFIX } from "./signer.ts";
import { type Actor, type Ancestors, familyIdFromTokenId, namesDefinition } from "./token-family.ts";
import { findActiveGrant, isAccessTokenRevoked } from "./tokens.store.ts";

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
  readonly customScopes: CustomScopeDirectory;
  readonly entitlements: EntitlementDirectory;
}

interface SignedClaims {
  readonly claims: AccessTokenClaims;
  /** Its `typ` is JWT: only an application with this setting issues such tokens. */
  readonly isPlainJwt?: boolean;
}

interface Verified extends SignedClaims {
  readonly kid: string;
}

/** A key that the organisation publishes, and the issuer that its tokens must name. */
interface TrustedKey {
  readonly kid: string;
  readonly issuer: string;
  /** The pool whose agent has the key; undefined for the organisation's own. */
  readonly poolId?: string;
  verify(token: string): SignedClaims | undefined;
}

const CACHED_TOKENS = 10_000;

export function accessTokens(deps: AccessTokenDeps): AccessTokens {
  const { customScopes } = deps;
  const verified = new Map<string, Verified>();

  const verify = (cacheKey: string, token: string, key: TrustedKey) => {
    const signed = key.verify(token);
    if (!signed) return undefined;
    if (verified.size >= CACHED_TOKENS) verified.delete(verified.keys().next().value as string);
    verified.set(cacheKey, { kid: key.kid, ...signed });
    return signed;
  };

  return {
    read: async (organisation, token) => {
      if (token.startsWith(OPAQUE_TOKEN_PREFIX)) {
        const stored = await findOpaqueToken(deps.database.query, organisation.id, token);
        return stored && stored.exp > seconds(deps.clock()) ? stored : undefined;
      }
      const cacheKey = sha256Base64url(token);
      const known = verified.get(cacheKey);
      const kid = known?.kid ?? decodeJwsUnverified(token)?.header["kid"];
      // Tokens of a key that left the JWKS are rejected, cached or not.
      const key = (await localKey(deps, organisation, kid)) ?? (await agentKey(deps, organisation, kid));
      const signed = key && (known ?? verify(cacheKey, token, key));
      if (!signed) return undefined;
      const { claims } = signed;
      // Written so that a missing `exp` fails too.
      if (claims.iss !== key.issuer || !(claims.exp > seconds(deps.clock()))) return undefined;
      if (signed.isPlainJwt && !(await issuesPlainJwts(deps, claims, organisation))) return undefined;
      return (await signsForPool(deps, claims, key, organisation)) ? claims : undefined;
    },
    activeScopes: async ({ id: orgId }, claims) => {
      const { client_id, jti, sub, device_id } = claims;
      const application = await deps.applications.find(orgId, client_id);
      if (!application) return undefined;
      if (device_id !== undefined && !(await isDeviceActive(deps, orgId, device_id))) return undefined;
      const familyId = familyIdFromTokenId(jti);
      const db = deps.database.query;
      const scopes = claims.scope?.split(" ") ?? [];
      const { allowedScopes } = application.settings;
      if (familyId === undefined) return clientScopes(deps, application, claims);
      const family = { orgId, familyId, jti, userId: sub, applicationId: client_id };
      const granted = await findActiveGrant(db, family);
      if (!granted || !(await isStillAssigned(deps, application, sub))) return undefined;
      if (!(await isOfItsAncestors(deps, orgId, claims, granted.ancestors))) return undefined;
      const defined = await customScopes.list(orgId);
      return stillDefined(grantableScopes(scopes, granted.scopes), granted, defined).filter(
        (one) =>
          standardScopes.some((standard) => standard === one) ||
          defined.some(({ name }) => name === one) ||
          allowedScopes.includes(one),
      );
    },
  };
}

/** Who has lost the way into an application, by whatever change of assignments and groups. */
async function isStillAssigned(
  { entitlements }: AccessTokenDeps,
  { orgId, id, settings }: Application,
  userId: string,
): Promise<boolean> {
  if (settings.access === "everyone") return true;
  const { access } = await entitlements.ofUser(orgId, userId);
  return access.some(({ applicationId }) => applicationId === id);
}

/** Says of itself what its family does, and what it was exchanged from still holds: an agent may sign anything else. */
async function isOfItsAncestors(
  deps: AccessTokenDeps,
  orgId: string,
  { act, workload }: AccessTokenClaims,
  ancestors: Ancestors | null,
): Promise<boolean> {
  if (workload !== undefined || !isSameActor(act, ancestors?.act ?? undefined)) return false;
  for (const id of ancestors?.clients ?? []) if (!(await deps.applications.find(orgId, id))) return false;
  for (const id of ancestors?.devices ?? []) if (!(await isDeviceActive(deps, orgId, id))) return false;
  return true;
}

const isSameActor = (one: Actor | undefined, other: Actor | undefined): boolean =>
  one === other || (one?.iss === other?.iss && one?.sub === other?.sub && isSameActor(one?.act, other?.act));

/** Of a client's own token, or of one that was exchanged for another client's: it ends with that client. */
async function clientScopes(
  { applications, customScopes, database }: AccessTokenDeps,
  { orgId, settings }: Application,
  claims: AccessTokenClaims,
): Promise<readonly string[] | undefined> {
  const { sub, client_id, jti } = claims;
  for (const one of [jti, ...(claims.exchanged_from ?? [])])
    if (await isAccessTokenRevoked(database.query, orgId, one)) return undefined;
  const scopes = claims.scope?.split(" ") ?? [];
  const defined = await customScopes.list(orgId);
  if (sub === client_id)
    return definedInToken(grantableScopes(scopes, settings.allowedScopes), claims, defined);
  for (let actor = claims.act; actor; actor = actor.act)
    if (!(await applications.find(orgId, actor.sub))) return undefined;
  // A policy has given the scopes, whatever the client is allowed otherwise.
  return (await applications.find(orgId, sub)) && definedInToken(scopes, claims, defined);
}

/** The scopes of a client's own token whose definitions it names. An older token names none: its time decides. */
const definedInToken = (
  scopes: readonly string[],
  { jti, iat }: AccessTokenClaims,
  customScopes: readonly CustomScope[],
): string[] =>
  scopes.filter((name) => {
    const current = customScopes.find((custom) => custom.name === name);
    return !current || (namesDefinition(jti, current.id) ?? current.createdAt < (iat + 1) * 1000);
  });

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
  const read = (token: string, typ: string) =>
    verifyJws(token, (named) => (named === key.kid ? key : undefined), { typ: [typ] })?.payload;
  // Signet signs these claims itself, so their shape is known.
  const asClaims = (payload: object) => payload as unknown as AccessTokenClaims;
  return {
    kid: key.kid,
    issuer: issuerOf(baseUrl, id),
    verify: (token) => {
      const typed = read(token, "at+jwt");
      if (typed) return { claims: asClaims(typed) };
      const plain = read(token, "JWT");
      return plain && !isIdToken(plain) ? { claims: asClaims(plain), isPlainJwt: true } : undefined;
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
      const claims = payload && readAgentClaims(payload, limits);
      return claims && { claims };
    },
  };
}

/** An ID token has the type JWT as well, but never these claims. */
const isIdToken = ({ client_id, jti }: Readonly<Record<string, unknown>>): boolean =>
  typeof client_id !== "string" || typeof jti !== "string";

async function issuesPlainJwts(
  { applications }: AccessTokenDeps,
  { client_id }: AccessTokenClaims,
  { id }: Organisation,
): Promise<boolean> {
  return (await applications.find(id, client_id))?.settings.accessTokenType === "JWT";
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

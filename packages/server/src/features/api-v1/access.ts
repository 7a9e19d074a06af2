/**
 * Who calls API v1 (api-v1.md, "Access"): a client with an access token of its own, or an administrator through a client. The
 * token's client, grant, user, role, scopes, revocation and certificate are looked up at every call.
 */

import { isUuid } from "@signet/protocol/hash";
import { decodeJwsUnverified, jwsAlgorithms } from "@signet/protocol/jose/jws";
import {
  bearerChallenge,
  dpopChallenge,
  parseBearer,
  parseDpopToken,
} from "@signet/protocol/oauth/authorization-header";
import { OAuthError, type OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";
import { type Application, jwtBearerGrantType } from "../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { Act } from "../../core/audit/audit.store.ts";
import { noteCaller } from "../../core/audit/audited-request.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import type { DpopNonces } from "../../core/dpop/dpop-nonces.ts";
import { findOperatorsOrganisation } from "../../core/operators/operators.store.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { HitPortions } from "../../core/rate-limits/hit-portions.ts";
import type { RateLimits } from "../../core/rate-limits/rate-limits.ts";
import {
  type ApiScope,
  apiAudience,
  apiScopes,
  apiScopesOf,
  holdsApiScope,
  isOperatorScope,
  operatorScopes,
} from "../../core/scopes/api-scopes.ts";
import type { CustomScopeDirectory } from "../../core/scopes/custom-scopes.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import { familyIdFromTokenId } from "../../core/tokens/token-family.ts";
import type { User } from "../../core/users/user.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Database } from "../../db/open.ts";
import { ApiError, notFound } from "../../http/api/api-error.ts";
import type { ApiAuthenticator, ApiRequest } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import { runOnce } from "./frame/idempotent-calls.ts";

export interface ApiAccessDeps extends CoreDeps {
  readonly baseUrl: string;
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly accessTokens: AccessTokens;
  /**
   * The certificate (RFC 8705 §3) and the key (RFC 9449 §7) that the token is bound to. The proof of the key is used up.
   * @throws OAuthError without a challenge: invalid_token, invalid_dpop_proof, use_dpop_nonce
   */
  proveBinding(organisation: Organisation, request: ApiRequest, presented: PresentedToken): Promise<void>;
  readonly dpopNonces: DpopNonces;
  readonly organisations: OrganisationDirectory;
  readonly customScopes: CustomScopeDirectory;
  readonly rateLimits: Pick<RateLimits, "api-client" | "recovery-account">;
  readonly portions: HitPortions;
  /** Set where calls are the operator's at the database, without a token: never where anybody else can call (cli/remote). */
  readonly atDatabase?: Pick<Act, "actor">;
}

export interface ApiCaller {
  /** Whose records are asked for. */
  readonly organisation: Organisation;
  /** Whose the token is. */
  readonly home: Organisation;
  readonly client: Pick<Application, "id">;
  /** The administrator whose token it is; undefined for a client's own. */
  readonly user: Pick<User, "id"> | undefined;
  readonly scopes: readonly ApiScope[];
  /** As the audit log names the caller. */
  readonly actor: string;
  /** Undefined for an operator at the database. */
  readonly address: string | undefined;
}

export const actOf = ({ organisation, actor, address }: ApiCaller) => ({
  ...{ orgId: organisation.id, actor },
  ...(address === undefined ? {} : { address }),
});

/** Authenticates calls of operations that need all of the scopes. */
export function apiAuthenticator(
  deps: ApiAccessDeps,
  ...scopes: readonly ApiScope[]
): ApiAuthenticator<ApiCaller, Database> {
  return {
    authenticate: async (request) => {
      const { org = "" } = request.params as { org?: string };
      const asked = isUuid(org) ? await deps.organisations.find(org.toLowerCase()) : undefined;
      if (!asked) throw notFound();
      if (deps.atDatabase) return operatorAtDatabase(asked, deps.atDatabase);
      const caller = await identify(deps, request);
      await countCall(deps, caller, request);
      if (asked.id !== caller.home.id && !(await isOperator(deps, caller))) throw notFound();
      requireScopes(caller, scopes);
      return { ...caller, organisation: asked };
    },
    repeat: (caller, request, raw, run) => runOnce(deps, caller, { request, raw, run }),
  };
}

/**
 * Of its own callers and the operators, for these also when the organisation is suspended or to be deleted: it is that of the
 * call, where the path names one. The operators' own scopes are held by nobody else.
 */
export function operatorAuthenticator(
  deps: ApiAccessDeps,
  ...scopes: readonly ApiScope[]
): ApiAuthenticator<ApiCaller, Database> {
  return {
    authenticate: async (request) => {
      const { org } = request.params as { org?: string };
      if (deps.atDatabase && org !== undefined)
        return operatorAtDatabase(await anyOrganisation(deps, org), deps.atDatabase);
      const isThere =
        org === undefined || (isUuid(org) && (await deps.organisations.find(org.toLowerCase())));
      // Whoever is no operator finds neither an unknown organisation nor a suspended one.
      const caller = await identify(deps, request).catch((error: unknown) => {
        throw isThere ? error : notFound();
      });
      await countCall(deps, caller, request);
      const isOwn = org === undefined || org.toLowerCase() === caller.home.id;
      if (!isOwn && !(await isOperator(deps, caller))) throw notFound();
      requireScopes(caller, scopes);
      if (isOwn || org === undefined) return caller;
      return { ...caller, organisation: await anyOrganisation(deps, org) };
    },
    repeat: (caller, request, raw, run) => runOnce(deps, caller, { request, raw, run }),
  };
}

/** A suspended one too. @throws ApiError 404 */
async function anyOrganisation({ database }: ApiAccessDeps, org: string): Promise<Organisation> {
  const found = isUuid(org) ? await findOrganisation(database.query, org.toLowerCase()) : undefined;
  if (!found) throw notFound();
  return found;
}

/** Whoever holds the database may do everything. */
const operatorAtDatabase = (organisation: Organisation, { actor }: Pick<Act, "actor">): ApiCaller => ({
  ...{ organisation, home: organisation, client: { id: actor }, user: undefined },
  ...{ scopes: [...apiScopes, ...operatorScopes], actor, address: undefined },
});

/** Theirs hold in every organisation. */
const isOperator = async ({ database }: ApiAccessDeps, { home }: ApiCaller): Promise<boolean> =>
  (await findOperatorsOrganisation(database.query)) === home.id;

function requireScopes(caller: ApiCaller, scopes: readonly ApiScope[]): void {
  if (!scopes.every((scope) => holdsApiScope(caller.scopes, scope))) throw insufficientScope(scopes);
}

/** Whatever a token says: another organisation has no operators. */
async function heldScopes(
  { database, customScopes }: ApiAccessDeps,
  { id }: Organisation,
  names: readonly string[],
): Promise<ApiScope[]> {
  const scopes = apiScopesOf(names, await customScopes.list(id));
  if (!scopes.some(isOperatorScope) || (await findOperatorsOrganisation(database.query)) === id)
    return scopes;
  return scopes.filter((scope) => !isOperatorScope(scope));
}

/**
 * Authenticates before the body is read, for routes that take a large one: a stranger's is not kept in memory.
 * @returns members of the route
 */
export function authenticatedFirst(authenticator: ApiAuthenticator<ApiCaller, Database>) {
  const callers = new WeakMap<ApiRequest, ApiCaller>();
  return {
    onRequest: async (request: ApiRequest) => {
      callers.set(request, await authenticator.authenticate(request, NO_BODY));
    },
    authenticator: {
      ...authenticator,
      authenticate: async (request: ApiRequest, raw: Buffer) =>
        callers.get(request) ?? authenticator.authenticate(request, raw),
    },
  };
}

const NO_BODY = Buffer.alloc(0);

/** @throws ApiError 401 */
async function identify(deps: ApiAccessDeps, request: ApiRequest): Promise<ApiCaller> {
  const { authorization } = request.headers;
  const ofKey = parseDpopToken(authorization);
  const token = ofKey ?? parseBearer(authorization);
  if (token === undefined) throw unauthenticated("no access token");
  const organisation = await organisationOf(deps, token);
  const claims = organisation && (await deps.accessTokens.read(organisation, token));
  if (!organisation || !claims) throw unauthenticated("an invalid or expired token", "invalid_token");
  const audience = typeof claims.aud === "string" ? [claims.aud] : claims.aud;
  if (!audience.includes(apiAudience(deps.baseUrl)))
    throw unauthenticated("a token for another audience", "invalid_token");
  const scopes = await deps.accessTokens.activeScopes(organisation, claims);
  const client = await deps.applications.find(organisation.id, claims.client_id);
  if (!scopes || !client) throw unauthenticated("a revoked token", "invalid_token");
  const user = await holderOf(deps, organisation, client, claims);
  await requireBinding(deps, organisation, request, { token, claims, isDpop: ofKey !== undefined });
  noteCaller(organisation.id, client.id);
  return {
    organisation,
    home: organisation,
    client,
    user,
    scopes: await heldScopes(deps, organisation, scopes),
    actor: user ? `user:${user.id}` : `client:${client.id}`,
    address: addressOf(request),
  };
}

/** An access token as it came. */
export interface PresentedToken {
  readonly token: string;
  readonly claims: AccessTokenClaims;
  /** By the scheme DPoP. */
  readonly isDpop: boolean;
}

/** Answers to whoever has a key have the nonce to use next, refusals included (RFC 9449 §8.2). @throws ApiError 401 */
async function requireBinding(
  deps: ApiAccessDeps,
  organisation: Organisation,
  request: ApiRequest,
  presented: PresentedToken,
): Promise<void> {
  const isOfKey = presented.isDpop || presented.claims.cnf?.jkt !== undefined;
  if (isOfKey) addHeaders(request, { "dpop-nonce": deps.dpopNonces.current(organisation.id) });
  try {
    await deps.proveBinding(organisation, request, presented);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { code, description } = error;
    if (!isOfKey) throw unauthenticated(description, "invalid_token");
    throw new ApiError(401, "not-authenticated", "The request is not authenticated", {
      ...{ cause: description, detail: `The access token is bound to a key: ${description}.` },
      headers: { "www-authenticate": dpopChallenge(REALM, code, description, { algs: dpopAlgorithms }) },
    });
  }
}

const dpopAlgorithms = Object.keys(jwsAlgorithms);

/**
 * @returns undefined for a client's own token: those of users have a family, and another subject
 * @throws ApiError 401 when the token is neither a client's own nor an administrator's
 */
async function holderOf(
  { database }: ApiAccessDeps,
  { id: orgId }: Organisation,
  { settings }: Application,
  { jti, sub, client_id }: AccessTokenClaims,
): Promise<User | undefined> {
  const isOwn = familyIdFromTokenId(jti) === undefined && sub === client_id;
  // A workload is the client, as one with a secret is.
  const isClient = settings.grantTypes.some(
    (one) => one === "client_credentials" || one === jwtBearerGrantType,
  );
  if (isOwn && isClient) return undefined;
  const user = isOwn ? undefined : await findUser(database.query, orgId, sub);
  if (familyIdFromTokenId(jti) === undefined || !isAdministrator(user))
    throw unauthenticated("neither a client's own token nor an administrator's", "invalid_token");
  return user;
}

const isAdministrator = (user: User | undefined): user is User =>
  user !== undefined && user.role === "Administrator" && user.disabledAt === null;

/** As the token says; its signature is checked by that organisation's keys. */
async function organisationOf(deps: ApiAccessDeps, token: string): Promise<Organisation | undefined> {
  const orgId = decodeJwsUnverified(token)?.payload["org_id"];
  return typeof orgId === "string" && isUuid(orgId)
    ? deps.organisations.find(orgId.toLowerCase())
    : undefined;
}

const REALM = "api/v1";

/** RFC 6750 §3: without a token, the challenge has no error code. */
const unauthenticated = (cause: string, code?: OAuthErrorCode) =>
  new ApiError(401, "not-authenticated", "The request is not authenticated", {
    cause,
    headers: { "www-authenticate": bearerChallenge(REALM, code) },
  });

function insufficientScope(wanted: readonly ApiScope[]): ApiError {
  const scope = wanted.join(" ");
  return new ApiError(403, "insufficient-scope", "The access token lacks a scope", {
    detail: `Request a token with the scope ${scope}.`,
    headers: { "www-authenticate": bearerChallenge(REALM, "insufficient_scope", undefined, scope) },
  });
}

/** A caller gives nobody more than it has itself. */
export function requireHeld(caller: ApiCaller, scope: ApiScope): void {
  if (holdsApiScope(caller.scopes, scope)) return;
  throw new ApiError(403, "exceeds-caller", "The caller may not hand out or change what it does not hold", {
    detail: `This needs the scope ${scope} too.`,
  });
}

/** Headers of answers, until they are sent. */
const limitHeaders = new WeakMap<ApiRequest, Readonly<Record<string, string>>>();

export const limitHeadersOf = (request: ApiRequest): Readonly<Record<string, string>> =>
  limitHeaders.get(request) ?? {};

function addHeaders(request: ApiRequest, headers: Readonly<Record<string, string>>): void {
  limitHeaders.set(request, { ...limitHeaders.get(request), ...headers });
}

/** Every call counts, whatever comes of it. @throws ApiError 429 */
async function countCall(
  deps: ApiAccessDeps,
  { home, client }: ApiCaller,
  request: ApiRequest,
): Promise<void> {
  const limit = deps.rateLimits["api-client"];
  const { hits, endsAt } = await deps.portions.count(deps, home.id, { limit, subject: client.id });
  const seconds = Math.max(1, Math.ceil((endsAt - deps.clock()) / 1000));
  // RateLimit header fields for HTTP (Internet-Draft).
  addHeaders(request, {
    "ratelimit-policy": `"${limit.name}";q=${limit.count};w=${limit.windowSeconds}`,
    ratelimit: `"${limit.name}";r=${Math.max(0, limit.count - hits)};t=${seconds}`,
  });
  if (hits > limit.count)
    throw new ApiError(429, "rate-limited", "Too many requests", { retryAfterSeconds: seconds });
}

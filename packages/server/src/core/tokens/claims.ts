/** The claims of access tokens and ID tokens (RFC 9068; OpenID Connect Core §2; wire-contract.md §2). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { formatScope } from "@signet/protocol/oauth/scope";
import type { Database } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import { isAgent } from "../client-metadata/agent-application.ts";
import { seconds } from "../clock.ts";
import { findConnection } from "../connections/connections.store.ts";
import { findUpstreamOf, upstreamClaims } from "../connections/sign-in/upstream-sign-ins.ts";
import { findConsentedFingerprints } from "../consents/consents.store.ts";
import type { Attestation } from "../devices/device.ts";
import type { ProtectedResource } from "../protected-resources/protected-resource.ts";
import { entitledClaims } from "../roles/entitled-claims.ts";
import type { EntitlementDirectory } from "../roles/entitlements.ts";
import { applicationOfToken } from "../roles/token-application.ts";
import { type Claims, customClaims } from "../scopes/custom-claims.ts";
import type { CustomScope, ScopeFingerprints } from "../scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../scopes/custom-scopes.ts";
import {
  asksForSignIn,
  type RequestedClaims,
  type RequestedValues,
  requestedValues,
} from "../scopes/requested-claims.ts";
import { type GrantedDefinitions, type ScopeDefinitions, stillDefined } from "../scopes/scope-definitions.ts";
import { claimsOfScopes, entitlementScopes, withoutCustom, withStandardClaims } from "../scopes/scopes.ts";
import type { User } from "../users/user.ts";
import { type Actor, type Authentication, newClientTokenId, newTokenId } from "./token-family.ts";

export interface AccessTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly client_id: string;
  readonly org_id: string;
  readonly scope?: string;
  readonly auth_time?: number;
  readonly amr?: readonly string[];
  readonly acr?: string;
  readonly device_id?: string;
  readonly device_attestation?: Attestation;
  /** RFC 9396 §9.1. */
  readonly authorization_details?: readonly AuthorizationDetail[];
  /** Who acts for the subject, the last first (RFC 8693 §4.1). */
  readonly act?: Actor;
  /** Of a client's own token that was exchanged: the `jti` of those before it, with which it ends. */
  readonly exchanged_from?: readonly string[];
  /** The workload that was the client (modern-oauth.md §5, "Use"). */
  readonly workload?: Workload;
  /** What the token is bound to: a certificate (RFC 8705 §3.1), a key (RFC 9449 §6.1). */
  readonly cnf?: { readonly "x5t#S256"?: string; readonly jkt?: string };
}

export interface IdTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly azp: string;
  readonly exp: number;
  readonly iat: number;
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly nonce?: string;
  readonly sid?: string;
  readonly [claim: string]: unknown;
}

/** As its own issuer names it. */
export interface Workload {
  readonly iss: string;
  readonly sub: string;
}

/** The certificate that came with the request, and the device that it is of; a self-signed one is of none. */
export interface TokenDevice {
  readonly id?: string;
  readonly attestation?: Attestation;
  /** SHA-256 of the certificate that the token is bound to; undefined for an unbound token. */
  readonly thumbprint?: string;
}

/** Everything that the tokens of one response are about. */
export interface TokenSubject {
  readonly issuer: string;
  readonly application: Application;
  readonly scopes: readonly string[];
  /** Of custom scopes that the client itself got: its token tells them, since no family does. */
  readonly definitions?: ScopeDefinitions;
  /** The requested and allowed resources (RFC 8707). */
  readonly resources: readonly string[];
  /** Of the grant, or the part of it that was asked for (RFC 9396). */
  readonly authorizationDetails?: readonly AuthorizationDetail[];
  /** The audience of the API, for a token that gives access to it. */
  readonly api?: { readonly audience: string; readonly isAll: boolean } | undefined;
  /** Undefined for client credentials: the client itself is the subject. */
  readonly user?: TokenUser | undefined;
  readonly device?: TokenDevice | undefined;
  /** The thumbprint of the key that the request has proven (RFC 9449). */
  readonly jkt?: string | undefined;
  readonly added?: AddedClaims;
  /** Whose rules the access token follows. */
  readonly resource?: ProtectedResource | undefined;
  /** What another token or assertion has said of this one. */
  readonly derived?: DerivedClaims | undefined;
}

/** Of a token that is issued for another token, or for an assertion of another issuer. */
export interface DerivedClaims {
  /** The client that the token is of, where neither a user nor the application is its subject. */
  readonly sub?: string;
  /** Seconds: not after what it came from. */
  readonly expiresAt?: number;
  readonly maxLifetimeSeconds?: number;
  readonly act?: Actor;
  readonly exchangedFrom?: readonly string[];
  readonly workload?: Workload;
  /** Its client asked for an access token alone. */
  readonly hasNoIdToken?: true;
}

export interface TokenUser {
  readonly user: User;
  readonly authentication: Authentication;
  readonly nonce: string | null;
  readonly sessionId: string | null;
  readonly familyId: string;
  /** The consent behind the grant: it may limit the claims of custom scopes. */
  readonly consentId: string | null;
  readonly requestedClaims: RequestedClaims;
  /** Requested claims of scopes made since then are not told. */
  readonly granted: GrantedDefinitions;
}

/** What an agent is shown of it (connections.md §4, "Tokens"); acr and amr are the provider's own. */
export interface SigningConnection {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly issuer: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
}

/** Claims of custom scopes and of the `claims` parameter. They never replace a claim that the token format defines. */
export interface AddedClaims {
  readonly accessToken: Claims;
  readonly idToken: Claims;
  /** Of the identity provider that the user signed in by: for the agents of a signing pool. */
  readonly connection?: SigningConnection | undefined;
}

export interface AddedClaimsDeps {
  readonly database: Database;
  readonly customScopes: CustomScopeDirectory;
  readonly entitlements: EntitlementDirectory;
}

/**
 * Reads the added claims from the current records, so that they are never older than the token.
 * @throws OAuthError invalid_target when roles of two applications would be told
 */
export async function addedClaims(deps: AddedClaimsDeps, subject: TokenSubject): Promise<AddedClaims> {
  const { application, scopes, user } = subject;
  const { orgId } = application;
  const customScopes = await deps.customScopes.list(orgId);
  const consented =
    customScopes.length === 0 ? undefined : await consentedFingerprints(deps, orgId, user?.consentId ?? null);
  const sources = { customScopes, consented };
  const ofScopes = customClaims({ ...sources, scopes, user: user?.user });
  const { accessToken, idToken } = await entitledOf(deps, subject, customScopes);
  const { signIn, connection } = await signInOf(deps, subject);
  return {
    accessToken: withStandardClaims(ofScopes, accessToken),
    idToken: user
      ? idTokenAdditions(application, scopes, { ...user, ...sources, ofScopes, entitled: idToken, signIn })
      : {},
    connection,
  };
}

/** Looked up where somebody asks: by the `claims` parameter, or a pool's agents. */
async function signInOf(
  { database: { query } }: AddedClaimsDeps,
  { application: { orgId, settings }, user }: TokenSubject,
): Promise<{ readonly signIn?: Claims; readonly connection?: SigningConnection }> {
  const isForAgents = settings.signingPoolId !== undefined;
  if (!user || !(isForAgents || asksForSignIn(user.requestedClaims.idToken))) return {};
  const found = await findUpstreamOf(query, { ...user.authentication, orgId, userId: user.user.id });
  if (!found) return {};
  const signIn = upstreamClaims(found);
  const connection = isForAgents && (await findConnection(query, { orgId, id: found.connectionId }));
  if (!connection) return { signIn };
  const { id, name, kind } = connection;
  const { issuer, acr, amr } = found;
  const said = { ...(acr === null ? {} : { acr }), ...(amr === null ? {} : { amr }) };
  return { signIn, connection: { id, name, kind, issuer, ...said } };
}

/** The claims of the entitlement scopes: in the access token those of the application that it is for, else the client's. */
async function entitledOf(
  deps: AddedClaimsDeps,
  { application, scopes, resources, user }: TokenSubject,
  customScopes: readonly CustomScope[],
): Promise<AddedClaims> {
  const granted = withoutCustom(entitlementScopes, customScopes).filter((scope) => scopes.includes(scope));
  const wanted = entitlementScopes.filter(
    (scope) =>
      granted.includes(scope) || (user && Object.hasOwn(user.requestedClaims.idToken, scope)) === true,
  );
  if (wanted.length === 0) return { accessToken: {}, idToken: {} };
  const { orgId, id } = application;
  const held = user
    ? await deps.entitlements.ofUser(orgId, user.user.id)
    : await deps.entitlements.ofClient(orgId, id);
  const { audience } = application.settings;
  const named = resources.length > 0 || audience === undefined ? resources : [audience];
  const target = granted.length === 0 ? application : await applicationOfToken(deps, application, named);
  if (!target)
    throw new OAuthError("invalid_target", "roles of one resource at a time can be told", {
      cause: "the audiences of several applications are named",
      reason: "resource-not-allowed",
    });
  return {
    accessToken: entitledClaims(held, target, granted),
    idToken: entitledClaims(held, application, wanted),
  };
}

/** Requested claims and, as the application is set up, those of all granted scopes. */
function idTokenAdditions(
  { settings }: Application,
  scopes: readonly string[],
  about: TokenUser &
    Pick<RequestedValues, "customScopes" | "consented" | "entitled" | "signIn"> & { ofScopes: Claims },
): Claims {
  const { user, requestedClaims, granted, customScopes, consented, ofScopes, entitled, signIn } = about;
  const { allowedScopes, idTokenIncludesScopeClaims } = settings;
  const allowed = stillDefined(allowedScopes, granted, customScopes);
  const sources = { user, customScopes, consented, allowed, entitled, signIn };
  const requested = requestedValues(requestedClaims.idToken, sources);
  const standardNames = withoutCustom(scopes, customScopes);
  // What a user may do is told to the client that asked for it: there would be a second question to userinfo at every sign-in.
  if (!idTokenIncludesScopeClaims) {
    const told = entitlementScopes.filter((scope) => standardNames.includes(scope));
    return withStandardClaims(requested, claimsOfScopes(user, told, entitled));
  }
  const standard = claimsOfScopes(user, standardNames, entitled);
  return withStandardClaims({ ...requested, ...ofScopes }, standard);
}

/** @returns undefined when no user's consent limits the claims */
export async function consentedFingerprints(
  { database }: AddedClaimsDeps,
  orgId: string,
  consentId: string | null,
): Promise<ScopeFingerprints | undefined> {
  return consentId === null ? undefined : findConsentedFingerprints(database.query, { orgId, consentId });
}

export function accessTokenClaims(subject: TokenSubject, now: number): AccessTokenClaims {
  const { application, user, derived = {} } = subject;
  const iat = seconds(now);
  // A custom scope older than the reservation of these names cannot set them either.
  const {
    cnf,
    device_id,
    device_attestation,
    authorization_details,
    act,
    workload,
    exchanged_from,
    ...added
  } = subject.added?.accessToken ?? {};
  return {
    ...added,
    iss: subject.issuer,
    sub: user?.user.id ?? derived.sub ?? application.id,
    aud: audienceClaim(subject),
    exp: Math.min(iat + accessTokenLifetime(subject), derived.expiresAt ?? Number.POSITIVE_INFINITY),
    iat,
    jti: user ? newTokenId(user.familyId) : newClientTokenId(subject.definitions ?? {}),
    client_id: application.id,
    org_id: application.orgId,
    ...(subject.scopes.length > 0 ? { scope: formatScope(subject.scopes) } : {}),
    ...(user ? authenticationClaims(user.authentication) : {}),
    ...deviceClaims(subject.device),
    ...(derived.act ? { act: derived.act } : {}),
    ...(derived.exchangedFrom ? { exchanged_from: derived.exchangedFrom } : {}),
    ...(derived.workload ? { workload: derived.workload } : {}),
    ...confirmation(subject),
    ...(subject.authorizationDetails?.length ? { authorization_details: subject.authorizationDetails } : {}),
  };
}

function accessTokenLifetime({ application, resource, derived }: TokenSubject): number {
  const { accessTokenLifetimeSeconds: own } = application.settings;
  return Math.min(
    resource?.accessTokenLifetimeSeconds ?? own,
    // A resource may have longer ones, but not for a client that nobody has registered by hand.
    isAgent(application) ? own : Number.POSITIVE_INFINITY,
    derived?.maxLifetimeSeconds ?? Number.POSITIVE_INFINITY,
  );
}

const authenticationClaims = ({ authTime, amr, acr }: Authentication) => ({
  auth_time: seconds(authTime),
  amr,
  acr,
});

function deviceClaims(
  device: TokenDevice | undefined,
): Pick<AccessTokenClaims, "device_id" | "device_attestation"> {
  if (!device) return {};
  const { id, attestation } = device;
  if (id === undefined) return {};
  return { device_id: id, ...(attestation === undefined ? {} : { device_attestation: attestation }) };
}

function confirmation({ device, jkt }: TokenSubject): Pick<AccessTokenClaims, "cnf"> {
  const thumbprint = device?.thumbprint;
  if (thumbprint === undefined && jkt === undefined) return {};
  return {
    cnf: {
      ...(thumbprint === undefined ? {} : { "x5t#S256": thumbprint }),
      ...(jkt === undefined ? {} : { jkt }),
    },
  };
}

/** Undefined without the scope `openid`. */
export function idTokenClaims(subject: TokenSubject, now: number): IdTokenClaims | undefined {
  const { application, user } = subject;
  if (!user || !subject.scopes.includes("openid") || subject.derived?.hasNoIdToken) return undefined;
  const iat = seconds(now);
  // A custom scope older than the reservation of these names cannot set them either. `client_id` and `jti` tell an access
  // token of the type JWT from an ID token.
  const { client_id, jti, nonce, sid, at_hash, ...added } = subject.added?.idToken ?? {};
  return {
    ...added,
    iss: subject.issuer,
    sub: user.user.id,
    aud: application.id,
    azp: application.id,
    exp: iat + application.settings.accessTokenLifetimeSeconds,
    iat,
    ...authenticationClaims(user.authentication),
    ...(user.nonce === null ? {} : { nonce: user.nonce }),
    ...(user.sessionId === null ? {} : { sid: user.sessionId }),
  };
}

/**
 * The resources, else the application's audience, else the issuer; with `openid` also the issuer, for userinfo. The API beside
 * them, or alone when nothing else is given access to (api-v1.md, "Access").
 */
function audienceClaim({
  issuer,
  application,
  scopes,
  resources,
  api,
}: TokenSubject): string | readonly string[] {
  if (api?.isAll) return api.audience;
  const { audience } = application.settings;
  const named = resources.length > 0 ? resources : audience === undefined ? [] : [audience];
  const own = named.length === 0 || scopes.includes("openid") ? [...named, issuer] : named;
  const all = [...new Set([...own, ...(api ? [api.audience] : [])])];
  return all.length === 1 ? (all[0] ?? issuer) : all;
}

/**
 * An identity assertion of another issuer that stands for a user (draft-ietf-oauth-identity-assertion-authz-grant): it is for one
 * client, used once, and gives an access token alone. The record of its trust says whose user it names.
 */
import { isUuid, sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseScope } from "@signet/protocol/oauth/scope";
import { newUuid } from "@signet/protocol/uuid";
import type { Application } from "../../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { findConnection } from "../../../../core/connections/connections.store.ts";
import { findIdentity } from "../../../../core/connections/sign-in/linked-identities.store.ts";
import { isOwnIssuer, issuerOf } from "../../../../core/organisations/organisation.ts";
import {
  type AccessRules,
  nameableBy,
  readAccessRules,
} from "../../../../core/protected-resources/asked-access.ts";
import { apiAudience, isApiScope } from "../../../../core/scopes/api-scopes.ts";
import { noRequestedClaims } from "../../../../core/scopes/requested-claims.ts";
import { definitionsOf } from "../../../../core/scopes/scope-definitions.ts";
import { grantableScopes } from "../../../../core/scopes/scopes.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { type ApplicationIssuerDeps, applicationIssuer } from "../../../../core/signing-pools/directory.ts";
import { type HeldTokens, releaseTokens, type SignedTokens } from "../../../../core/tokens/signer.ts";
import type { Authentication } from "../../../../core/tokens/token-family.ts";
import { insertTokenFamily } from "../../../../core/tokens/tokens.store.ts";
import {
  consumeTrusted,
  type TrustedDeps,
  type TrustedToken,
  UntrustedToken,
  verifyTrusted,
} from "../../../../core/trusts/verify-trusted.ts";
import type { User } from "../../../../core/users/user.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import type { ConsumedGrant, GrantBasis, GrantDeps, GrantRequest } from "../grant.ts";
import { refuseDetails, requestedResources } from "../grant.ts";

export interface IdentityAssertionDeps extends GrantDeps, TrustedDeps, ApplicationIssuerDeps {}

export interface IdentityBasis extends GrantBasis {
  readonly assertion: TrustedToken;
  readonly user: NonNullable<GrantBasis["user"]>;
}

export const ID_JAG_TYPE = "oauth-id-jag+jwt";
const MAX_LIFETIME_SECONDS = 600;
/** Of an access token, whatever the application and the resource say. */
const MAX_TOKEN_SECONDS = 86_400;

export const isIdentityAssertion = (typ: unknown): boolean =>
  typeof typ === "string" && typ.toLowerCase().replace(/^application\//, "") === ID_JAG_TYPE;

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the assertion cannot be used", { cause, reason: "assertion-invalid" });

/** @throws OAuthError invalid_grant, invalid_scope, invalid_target */
export async function validateIdentityAssertion(
  deps: IdentityAssertionDeps,
  request: GrantRequest,
  text: string,
): Promise<IdentityBasis> {
  const { organisation, application } = request;
  refuseDetails(request.form);
  if (application.settings.tokenEndpointAuthMethod === "none")
    throw new OAuthError("unauthorized_client", "an identity assertion needs a client that authenticates");
  const audiences = [issuerOf(deps.baseUrl, organisation.id), await applicationIssuer(deps, application)];
  const assertion = await verifyTrusted(deps, text, {
    ...{ orgId: organisation.id, kind: "id_jag", clientId: application.id, audiences },
    ...{ types: [ID_JAG_TYPE], maxLifetimeSeconds: MAX_LIFETIME_SECONDS },
  }).catch((error: unknown) => {
    throw error instanceof UntrustedToken ? refused(error.message) : error;
  });
  const { claims } = assertion;
  // The trust's issuer may be changed to ours by nobody, but an older record may name what is ours now.
  if (isOwnIssuer(issuerOf(deps.baseUrl, organisation.id), claims.iss)) throw refused("it is our own");
  if (claims["client_id"] !== application.id) throw refused("it is for another client");
  if (typeof claims["jti"] !== "string" || claims["jti"] === "") throw refused("there is no jti");
  const user = await userOf(deps, assertion);
  const rules = await readAccessRules(deps, organisation.id);
  const scopes = grantedScopes(request, claims["scope"]);
  const definitions = definitionsOf(rules.customScopes, scopes);
  const granted = { definitions, createdAt: request.now };
  return {
    ...{ assertion, scopes, definitions, resources: grantedResources(request, rules, claims["resource"]) },
    proofHash: sha256Base64url(text),
    derived: { hasNoIdToken: true },
    user: {
      ...{ user, authentication: authenticationOf(assertion, request.now), nonce: null, sessionId: null },
      ...{ familyId: newUuid(), consentId: null, requestedClaims: noRequestedClaims, granted },
    },
  };
}

/** By the identity linked at the trust's connection, or by our own `sub`. @throws OAuthError invalid_grant */
async function userOf(
  { database: { query } }: IdentityAssertionDeps,
  { trust, claims }: TrustedToken,
): Promise<User> {
  const { orgId, connectionId } = trust;
  const id =
    trust.userBy === "permId"
      ? claims.sub
      : await (async () => {
          if (connectionId === null) return undefined;
          const connection = await findConnection(query, { orgId, id: connectionId });
          if (!connection?.enabled) return undefined;
          return (await findIdentity(query, { orgId, connectionId, subject: claims.sub }))?.userId;
        })();
  const user = id !== undefined && isUuid(id) ? await findUser(query, orgId, id) : undefined;
  if (!user || user.disabledAt !== null) throw refused("it names no active user");
  return user;
}

/** What the assertion, the request and the client's registration have in common; access to the API is never among it. */
function grantedScopes({ form, application }: GrantRequest, claimed: unknown): string[] {
  const asked = form.values.get("scope");
  const ofAssertion = typeof claimed === "string" ? parseScope(claimed) : undefined;
  const requested = asked === undefined ? ofAssertion : parseScope(asked);
  const { allowedScopes } = application.settings;
  const allowed = allowedScopes.filter((scope) => !isApiScope(scope) && scope !== "offline_access");
  const scopes = grantableScopes(requested ?? [], allowed).filter((scope) => ofAssertion?.includes(scope));
  if (scopes.length > 0) return scopes;
  throw new OAuthError("invalid_scope", "none of the requested scopes is in the assertion and allowed", {
    reason: "scope-not-allowed",
  });
}

/** @throws OAuthError invalid_target */
function grantedResources(
  { form, application }: GrantRequest,
  rules: AccessRules,
  claimed: unknown,
): readonly string[] {
  const nameable = nameableBy(application, rules).filter((one) => one !== apiAudience(rules.baseUrl));
  const named = claimed === undefined ? undefined : [claimed].flat();
  const allowed = named ? nameable.filter((resource) => named.includes(resource)) : nameable;
  if (form.values.has("resource")) return requestedResources(form, allowed);
  if (!named) return [];
  if (allowed.length > 0) return allowed;
  // Without them the token would be for something that the assertion does not name.
  throw new OAuthError("invalid_target", "the assertion's resource is not allowed for this client", {
    reason: "resource-not-allowed",
  });
}

/** As the other issuer says; the level is ours to give, and it is the lowest. */
function authenticationOf({ claims }: TrustedToken, now: number): Authentication {
  const { auth_time: time, iat, amr } = claims;
  const at = [time, iat].find((one) => typeof one === "number" && Number.isFinite(one));
  const methods = Array.isArray(amr) ? amr.filter((one): one is string => typeof one === "string") : [];
  return {
    authTime: Math.min(Math.max(0, Math.floor(Number(at ?? now / 1_000))) * 1_000, now),
    amr: methods.filter((one) => one.length <= 32).slice(0, 10),
    acr: acrValues.password,
  };
}

export async function redeemIdentityAssertion(
  deps: IdentityAssertionDeps,
  request: GrantRequest,
  { assertion, user, scopes, definitions = {}, resources }: IdentityBasis,
  signed: SignedTokens | HeldTokens,
): Promise<ConsumedGrant> {
  const { application } = request;
  return deps.database.transaction(async (tx) => {
    if (!(await consumeTrusted(tx, { ...assertion, trust: { ...assertion.trust, singleUse: true } })))
      throw refused("it was used before");
    const now = deps.clock();
    const { authentication, requestedClaims, familyId } = user;
    await insertTokenFamily(tx, {
      ...familyOf(application, user.user.id, request),
      ...{ id: familyId, scopes, definitions, resources, authentication, requestedClaims },
      ...{ createdAt: now, expiresAt: now + MAX_TOKEN_SECONDS * 1_000 },
    });
    await recordAuditEvent(tx, {
      ...{ orgId: application.orgId, at: now, actor: `client:${application.id}`, address: request.address },
      ...{ action: "identity-assertion.accepted", target: user.user.id, applicationId: application.id },
      details: { issuer: assertion.trust.issuer, trust: assertion.trust.id },
    });
    return { tokens: await releaseTokens(signed, tx) };
  });
}

/** A family without refresh token, session and consent: it is there so that its tokens can be revoked. */
export const familyOf = (
  { orgId, id }: Application,
  userId: string,
  { deviceId, dpopJkt, certificateThumbprint }: GrantRequest,
) => ({
  ...{ orgId, applicationId: id, userId, deviceId, dpopJkt, certificateThumbprint },
  ...{ sessionId: null, consentId: null, nonce: null, refreshHash: null, refreshExpiresAt: null },
  ...{ previousHash: null, rotatedAt: null, revokedAt: null },
  authorizationDetails: [],
});

/**
 * POST /oauth/{org}/introspect (RFC 7662): describes a token to the client that owns it or is its audience. The response to
 * anything else is `{"active": false}` alone (RFC 7662 §2.2).
 */

import { requireSingle } from "@signet/protocol/form";
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { formatScope } from "@signet/protocol/oauth/scope";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import type { AuthorizationDetail } from "../../core/authorization-details/detail-type.ts";
import type { DetailTypeDirectory } from "../../core/authorization-details/detail-types.ts";
import { seconds } from "../../core/clock.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import { findDevice } from "../../core/devices/devices.store.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { isAudience } from "../../core/protected-resources/asked-access.ts";
import type { ProtectedResourceDirectory } from "../../core/protected-resources/protected-resources.ts";
import type { EntitlementDirectory } from "../../core/roles/entitlements.ts";
import type { CustomScopeDirectory } from "../../core/scopes/custom-scopes.ts";
import { stillDefined } from "../../core/scopes/scope-definitions.ts";
import { entitlementScopes, grantableScopes, withoutCustom } from "../../core/scopes/scopes.ts";
import { isDefinedClaim } from "../../core/scopes/validation.ts";
import { applicationIssuer } from "../../core/signing-pools/directory.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import { activeDetails, detailsOfFamily } from "../../core/tokens/active-details.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import { entitledByToken } from "../../core/tokens/entitled-by-token.ts";
import { messageTypes } from "../../core/tokens/signed-message.ts";
import {
  familyIdFromRefreshToken,
  type RefreshTokenKeys,
  refreshTokenStatus,
} from "../../core/tokens/token-family.ts";
import { findTokenFamily } from "../../core/tokens/tokens.store.ts";
import { findUser } from "../../core/users/users.store.ts";
import { type Answer, type Call, jsonAnswer } from "../../http/calls/call.ts";
import { callRoute } from "../../http/calls/call-route.ts";
import type { DirectCalls } from "../../http/calls/direct-calls.ts";
import { callInOrganisation } from "../../http/organisation-lookup.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
  invalidClient,
} from "./client-authentication/client-authentication.ts";
import { type SignedAnswerDeps, signedAnswer } from "./signed-answer.ts";

export interface IntrospectDeps
  extends CoreDeps,
    ClientAuthenticationDeps,
    RefreshTokenKeys,
    SignedAnswerDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly accessTokens: AccessTokens;
  readonly customScopes: CustomScopeDirectory;
  readonly protectedResources: Pick<ProtectedResourceDirectory, "list">;
  readonly detailTypes: Pick<DetailTypeDirectory, "list">;
  readonly entitlements: EntitlementDirectory;
}

const INACTIVE = { active: false } as const;

export function introspectRoute(app: FastifyInstance, direct: DirectCalls, deps: IntrospectDeps): void {
  const handler = callInOrganisation<Organisation>(deps.organisations.find, (organisation, call) =>
    introspect(deps, organisation, call),
  );
  callRoute(app, direct, { method: "POST", path: "/oauth/:org/introspect" }, handler);
}

async function introspect(deps: IntrospectDeps, organisation: Organisation, call: Call): Promise<Answer> {
  const { form } = call;
  requireSingle(form);
  const client = await identifyClient(deps, organisation, call);
  const { application } = await deps.refusedRequests.watch(client.application, "introspect", () =>
    authenticateClient(deps, organisation, call, client),
  );
  // A public client does not authenticate: anyone could introspect in its name.
  if (application.settings.tokenEndpointAuthMethod === "none") {
    throw invalidClient(organisation, "public client", {
      description: "public clients may not introspect tokens",
    });
  }
  const token = form.values.get("token");
  if (token === undefined) throw new OAuthError("invalid_request", "token is missing");
  const familyId = familyIdFromRefreshToken(deps, organisation.id, token);
  const description = await (familyId === undefined
    ? describeAccessToken(deps, organisation, application, token)
    : describeRefreshToken(deps, organisation, application, { token, familyId }));
  if (!wantsJwt(call)) return jsonAnswer(description);
  return signedAnswer(deps, call, {
    ...{ use: "introspection_response", application, mediaType: JWT_MEDIA_TYPE, userId: null },
    alg: application.settings.introspectionSignedResponseAlg,
    // RFC 9701 §5: the description is a claim of its own, so that nobody takes the answer for an access token.
    claims: { token_introspection: description },
  });
}

const JWT_MEDIA_TYPE = `application/${messageTypes.introspection_response}`;

/** By its Accept header (RFC 9701 §4). */
const wantsJwt = ({ headers: { accept } }: Call): boolean =>
  (accept ?? "").split(",").some((range) => range.split(";")[0]?.trim().toLowerCase() === JWT_MEDIA_TYPE);

async function describeAccessToken(
  deps: IntrospectDeps,
  organisation: Organisation,
  application: Application,
  token: string,
): Promise<object> {
  const claims = await deps.accessTokens.read(organisation, token);
  if (!claims || !(await isOwnerOrAudience(deps, application, claims))) return INACTIVE;
  const scopes = await deps.accessTokens.activeScopes(organisation, claims);
  if (!scopes) return INACTIVE;
  const { scope, authorization_details, ...others } = claims;
  const details = authorization_details && (await activeDetails(deps, organisation.id, claims));
  const granted = scope === undefined ? {} : { scope: formatScope(scopes) };
  const current = await entitledNow(deps, organisation, { claims, scopes });
  const told = await claimsOfActive(deps, organisation, { claims: others, granted: scope, scopes });
  const described = { active: true, ...told, ...current, ...granted, ...detailsMember(details) };
  return { ...described, token_type: claims.cnf?.jkt ? "DPoP" : "Bearer" };
}

/** Without the claims of custom scopes that were deleted, or taken from the client, since the token was issued. */
async function claimsOfActive(
  { customScopes }: IntrospectDeps,
  { id }: Organisation,
  {
    claims,
    granted = "",
    scopes,
  }: {
    readonly claims: object;
    readonly granted: string | undefined;
    readonly scopes: readonly string[];
  },
): Promise<object> {
  if (granted.split(" ").every((name) => name === "" || scopes.includes(name))) return claims;
  const active = (await customScopes.list(id)).filter(({ name }) => scopes.includes(name));
  const kept = new Set(active.flatMap((scope) => scope.claims.map(({ name }) => name)));
  return Object.fromEntries(
    Object.entries(claims).filter(([name]) => isDefinedClaim(name) || kept.has(name)),
  );
}

/** Who may introspect an access token: its client, and the client that it is for. */
export const isOwnerOrAudience = async (
  { protectedResources }: Pick<IntrospectDeps, "protectedResources">,
  application: Application,
  { client_id, aud }: AccessTokenClaims,
): Promise<boolean> =>
  client_id === application.id ||
  isAudience(application, aud, await protectedResources.list(application.orgId));

/** RFC 9396 §9.2. */
const detailsMember = (details: readonly AuthorizationDetail[] = []) =>
  details.length > 0 ? { authorization_details: details } : {};

/** Roles, groups and permissions as they are, in place of what they were when the token was issued. */
async function entitledNow(
  deps: IntrospectDeps,
  { id: orgId }: Organisation,
  { claims, scopes }: { claims: AccessTokenClaims; scopes: readonly string[] },
): Promise<Record<string, unknown>> {
  const told = claims.scope?.split(" ") ?? [];
  if (!entitlementScopes.some((name) => told.includes(name))) return {};
  const customScopes = await deps.customScopes.list(orgId);
  // A claim of an older custom scope has the name, and stays as it was issued.
  const isCustom = (name: string) =>
    customScopes.some((one) => scopes.includes(one.name) && one.claims.some((claim) => claim.name === name));
  const named = withoutCustom(entitlementScopes, customScopes);
  const standard = entitlementScopes.filter(
    (name) => named.includes(name) && told.includes(name) && !isCustom(name),
  );
  // Undefined members are left out of the answer.
  const issued = standard.flatMap((name) => [name, `${name}_overage`]).map((name) => [name, undefined]);
  const values = await entitledByToken(
    deps,
    claims,
    standard.filter((name) => scopes.includes(name)),
  );
  return { ...Object.fromEntries(issued), ...values };
}

async function describeRefreshToken(
  deps: IntrospectDeps,
  organisation: Organisation,
  application: Application,
  { token, familyId }: { token: string; familyId: string },
): Promise<object> {
  const family = await findTokenFamily(deps.database.query, organisation.id, familyId);
  if (!family || family.applicationId !== application.id) return INACTIVE;
  // Introspection is not a use: a rotated token is inactive here, without reuse detection.
  if (refreshTokenStatus(family, sha256Base64url(token), deps.clock(), false) !== "current") return INACTIVE;
  const device =
    family.deviceId === null
      ? undefined
      : await findDevice(deps.database.query, organisation.id, family.deviceId);
  if (family.deviceId !== null && device?.revokedAt !== null) return INACTIVE;
  const user = await findUser(deps.database.query, organisation.id, family.userId);
  if (!user || user.disabledAt !== null) return INACTIVE;
  // As the next access token would have them.
  const defined = stillDefined(family.scopes, family, await deps.customScopes.list(organisation.id));
  return {
    active: true,
    iss: await applicationIssuer(deps, application),
    sub: family.userId,
    client_id: family.applicationId,
    scope: formatScope(grantableScopes(defined, application.settings.allowedScopes)),
    ...detailsMember(await detailsOfFamily(deps, application, family)),
    iat: seconds(family.rotatedAt ?? family.createdAt),
    exp: seconds(family.refreshExpiresAt ?? family.expiresAt),
  };
}

/** GET and POST /oauth/{org}/userinfo (OpenID Connect Core §5.3): the claims that the access token gives access to. */

import type { FastifyInstance } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import { noteCaller } from "../../core/audit/audited-request.ts";
import { findUpstreamOf, upstreamClaims } from "../../core/connections/sign-in/upstream-sign-ins.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { entitledClaims } from "../../core/roles/entitled-claims.ts";
import { type Claims, customClaims } from "../../core/scopes/custom-claims.ts";
import { asksForSignIn, type ClaimRequests, requestedValues } from "../../core/scopes/requested-claims.ts";
import { stillDefined } from "../../core/scopes/scope-definitions.ts";
import {
  claimsOfScopes,
  entitlementScopes,
  withoutCustom,
  withStandardClaims,
} from "../../core/scopes/scopes.ts";
import { type AddedClaimsDeps, consentedFingerprints } from "../../core/tokens/claims.ts";
import { familyIdFromTokenId, type TokenFamily } from "../../core/tokens/token-family.ts";
import { findTokenFamily } from "../../core/tokens/tokens.store.ts";
import type { User } from "../../core/users/user.ts";
import { type Answer, type Call, jsonAnswer } from "../../http/calls/call.ts";
import { callRoute } from "../../http/calls/call-route.ts";
import type { DirectCalls } from "../../http/calls/direct-calls.ts";
import { callInOrganisation } from "../../http/organisation-lookup.ts";
import { authenticateBearer, type BearerAuthentication, type BearerDeps } from "./bearer-authentication.ts";
import { withDpopNonce } from "./sender-constraint.ts";
import { type SignedAnswerDeps, signedAnswer } from "./signed-answer.ts";

export interface UserinfoDeps extends BearerDeps, AddedClaimsDeps, SignedAnswerDeps {
  readonly organisations: OrganisationDirectory;
}

export function userinfoRoutes(app: FastifyInstance, direct: DirectCalls, deps: UserinfoDeps): void {
  const handler = callInOrganisation<Organisation>(
    deps.organisations.find,
    withDpopNonce(deps, async (organisation, call) =>
      answerUserinfo(deps, call, await authenticateBearer(deps, organisation, call)),
    ),
  );
  callRoute(app, direct, { method: "GET", path: "/oauth/:org/userinfo" }, handler);
  callRoute(app, direct, { method: "POST", path: "/oauth/:org/userinfo" }, handler);
}

async function answerUserinfo(
  deps: UserinfoDeps,
  call: Call,
  authentication: BearerAuthentication,
): Promise<Answer> {
  const { user, claims } = authentication;
  const { orgId } = user;
  noteCaller(orgId, claims.client_id);
  const application = await deps.applications.find(orgId, claims.client_id);
  const { content, family } = await userinfoClaims(deps, authentication, application);
  const alg = application?.settings.userinfoSignedResponseAlg;
  if (!application || alg === undefined) return jsonAnswer(content);
  const requestSigned = family?.requestSigned ?? null;
  const of = { use: "userinfo_response", application, userId: user.id, requestSigned } as const;
  return signedAnswer(deps, call, { ...of, alg, mediaType: "application/jwt", claims: content });
}

async function userinfoClaims(
  deps: UserinfoDeps,
  { user, claims, scopes }: BearerAuthentication,
  application: Application | undefined,
): Promise<{ readonly content: Claims; readonly family: TokenFamily | undefined }> {
  const { orgId } = user;
  const familyId = familyIdFromTokenId(claims.jti);
  const [customScopes, family] = await Promise.all([
    deps.customScopes.list(orgId),
    familyId === undefined ? undefined : findTokenFamily(deps.database.query, orgId, familyId),
  ]);
  const consented =
    customScopes.length === 0
      ? undefined
      : await consentedFingerprints(deps, orgId, family?.consentId ?? null);
  const requests = family?.requestedClaims.userinfo ?? {};
  const entitled = application ? await entitledHere(deps, application, { user, scopes, requests }) : {};
  const upstream =
    family && asksForSignIn(requests)
      ? await findUpstreamOf(deps.database.query, { ...family.authentication, orgId, userId: user.id })
      : undefined;
  const signIn = upstream && upstreamClaims(upstream);
  const sources = { customScopes, user, consented, entitled, signIn };
  const allowedNow = application?.settings.allowedScopes ?? [];
  const allowed = family ? stillDefined(allowedNow, family, customScopes) : allowedNow;
  const requested = requestedValues(requests, { ...sources, allowed });
  const custom = { ...customClaims({ ...sources, scopes }), ...requested };
  const standard = claimsOfScopes(user, withoutCustom(scopes, customScopes), entitled);
  return { content: { ...withStandardClaims(custom, standard), sub: user.id }, family };
}

/** In the client's application, whatever the token is for. */
async function entitledHere(
  { entitlements }: UserinfoDeps,
  application: Application,
  { user, scopes, requests }: { user: User; scopes: readonly string[]; requests: ClaimRequests },
): Promise<Claims> {
  const wanted = entitlementScopes.filter((one) => scopes.includes(one) || Object.hasOwn(requests, one));
  if (wanted.length === 0) return {};
  return entitledClaims(await entitlements.ofUser(application.orgId, user.id), application, wanted);
}

/** /api/v1/organisations/{org}/consents: of users, and granted by an administrator. */
import type { Static } from "typebox";
import type { Consent } from "../../../core/consents/consent.ts";
import { findConsentRecord } from "../../../core/consents/consents.store.ts";
import { grantByAdministrator, revokeConsent } from "../../../core/consents/consents.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import { requireHeldScopes } from "../applications/held-scopes.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { unknownReference } from "../frame/member-faults.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import {
  consentGrant,
  consentRecord,
  consentSchema,
  grantedApplication,
  toGrantAnswer,
} from "./consent-record.ts";
import { consentFields, listConsentPage } from "./grants-list.store.ts";

export function apiConsentsRoutes(api: ApiScope, deps: ApiDeps): void {
  const consents: ApiResource<Consent> = {
    ...{ api, deps, tag: "API v1: consents", one: "consent", many: "consents, revoked ones too" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: consentSchema,
    record: consentRecord,
    toAnswer: toGrantAnswer,
  };
  listRoute(
    consents,
    "/api/v1/organisations/:org/consents",
    { operationId: "apiListConsents", summary: "List consents", fields: consentFields },
    ({ orgId, list }) => listConsentPage(deps.database.query, orgId, list),
  );
  getRoute(
    consents,
    "/api/v1/organisations/:org/consents/:id",
    { operationId: "apiReadConsent", summary: "Get a consent, revoked or not" },
    ({ orgId, id }) => findConsentRecord(deps.database.query, { orgId, id }),
  );
  createRoute(
    consents,
    "/api/v1/organisations/:org/consents",
    {
      operationId: "apiGrantConsent",
      summary: "Grant an application scopes, for a user or for all users",
      body: consentGrant,
      example: { clientId: "01998d70-0000-7000-8000-000000000000", scopes: ["openid", "email"] },
      known: "The existing consent, with the scopes added",
      errors: [403],
    },
    async (inside, { caller, orgId, body }) => {
      requireHeldScopes(caller, body.scopes);
      requireKind(body);
      const application = await grantedApplication(inside, orgId, body.clientId);
      const { query } = inside.database;
      const userId = body.userId?.toLowerCase();
      if (userId !== undefined && !(await findUser(query, orgId, userId))) throw unknownReference("/userId");
      const { orgId: _, ...by } = actOf(caller);
      const consenter = userId === undefined ? {} : { userId };
      const grant = { application, scopes: body.scopes, ...consenter, ...by };
      const { id, isNew } = await grantByAdministrator(inside, grant);
      const row = await findConsentRecord(query, { orgId, id });
      if (!row) throw notFound();
      return { row, isKnown: !isNew };
    },
  );
  revokeRoute(consents);
}

/** @throws ApiError 422 where it says one thing and `userId` another */
function requireKind({ kind, userId }: Static<typeof consentGrant>): void {
  if (kind === "user" && userId === undefined)
    throw invalid([{ path: "/userId", message: "is required for a consent of a user" }]);
  if (kind === "organisation" && userId !== undefined)
    throw invalid([{ path: "/userId", message: "must be absent in a consent of the organisation" }]);
}

function revokeRoute(consents: ApiResource<Consent>): void {
  deleteRoute(
    consents,
    "/api/v1/organisations/:org/consents/:id",
    {
      operationId: "apiRevokeConsent",
      summary: "Revoke a consent, with the refresh tokens that rest on it",
      done: "Revoked",
    },
    async (inside, { caller, orgId, id, check }) => {
      const consent = await findConsentRecord(inside.database.query, { orgId, id });
      if (!consent) return false;
      await check(consent);
      return revokeConsent(inside, { ...actOf(caller), id });
    },
  );
}

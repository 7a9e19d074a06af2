/** /api/v1/organisations/{org}/preauthorizations: scopes that an application has without asking the user. */
import type { Consent } from "../../../core/consents/consent.ts";
import { findPreauthorization } from "../../../core/consents/consents.store.ts";
import { createPreauthorization, deletePreauthorization } from "../../../core/consents/consents.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import { requireHeldScopes } from "../applications/held-scopes.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import {
  grantedApplication,
  grantSchema,
  preauthorizationRecord,
  preauthorizationSchema,
  toGrantAnswer,
} from "./consent-record.ts";
import { listPreauthorizationPage, preauthorizationFields } from "./grants-list.store.ts";

export function apiPreauthorizationsRoutes(api: ApiScope, deps: ApiDeps): void {
  const preauthorizations: ApiResource<Consent> = {
    ...{ api, deps, tag: "API v1: consents", one: "pre-authorization", many: "pre-authorizations" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: preauthorizationSchema,
    record: preauthorizationRecord,
    toAnswer: toGrantAnswer,
  };
  listRoute(
    preauthorizations,
    "/api/v1/organisations/:org/preauthorizations",
    {
      operationId: "apiListPreauthorizations",
      summary: "List pre-authorizations",
      fields: preauthorizationFields,
    },
    ({ orgId, list }) => listPreauthorizationPage(deps.database.query, orgId, list),
  );
  getRoute(
    preauthorizations,
    "/api/v1/organisations/:org/preauthorizations/:id",
    { operationId: "apiReadPreauthorization", summary: "Get a pre-authorization" },
    ({ orgId, id }) => findPreauthorization(deps.database.query, { orgId, id }),
  );
  createRoute(
    preauthorizations,
    "/api/v1/organisations/:org/preauthorizations",
    {
      operationId: "apiCreatePreauthorization",
      summary: "Pre-authorize an application for scopes: its users are not asked",
      body: grantSchema,
      example: { clientId: "01998d70-0000-7000-8000-000000000000", scopes: ["openid", "email"] },
      errors: [403],
    },
    async (inside, { caller, orgId, body }) => {
      const { scopes, clientId } = body;
      requireHeldScopes(caller, scopes);
      const application = await grantedApplication(inside, orgId, clientId);
      const { orgId: _, ...by } = actOf(caller);
      return { row: await createPreauthorization(inside, { application, scopes, ...by }) };
    },
  );
  deleteRoute(
    preauthorizations,
    "/api/v1/organisations/:org/preauthorizations/:id",
    {
      operationId: "apiDeletePreauthorization",
      summary: "Delete a pre-authorization, with the refresh tokens that rest on it",
    },
    async (inside, { caller, orgId, id, check }) => {
      const record = await findPreauthorization(inside.database.query, { orgId, id });
      if (!record) return false;
      await check(record);
      return deletePreauthorization(inside, { ...actOf(caller), id });
    },
  );
}

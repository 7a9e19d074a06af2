/** /api/v1/organisations/{org}/shared-applications: applications of other organisations, enabled with the scopes they may have. */
import { InvalidApplication } from "../../../core/applications/validation.ts";
import {
  enableShared,
  findShared,
  InvalidSharing,
  listShared,
  type SharedApplication,
  withdrawShared,
} from "../../../core/shared-applications/shared-applications.ts";
import type { Database } from "../../../db/open.ts";
import { notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, apiAuthenticator } from "../access.ts";
import { requireHeldScopes, requireOther } from "../applications/held-scopes.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { invalidMembers } from "../frame/member-faults.ts";
import { type ApiResource, getRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  sharedApplicationFields,
  sharedApplicationRecord,
  sharedApplicationSchema,
  sharing,
} from "./shared-application-record.ts";

const fields = sharedApplicationFields;

export function apiSharedApplicationsRoutes(api: ApiScope, deps: ApiDeps): void {
  const applications: ApiResource<SharedApplication> = {
    ...{ api, deps, tag: "API v1: shared applications", one: "application", many: "applications" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    ...{ schema: sharedApplicationSchema, record: sharedApplicationRecord, idParameter: "clientId" },
  };
  listRoute(
    applications,
    "/api/v1/organisations/:org/shared-applications",
    {
      operationId: "apiListSharedApplications",
      summary: "List the applications of other organisations that are enabled here",
      fields,
    },
    async ({ orgId, list }) =>
      memoryPage(list, await listShared(deps.database.query, orgId), {
        fields,
        record: sharedApplicationRecord,
      }),
  );
  getRoute(
    applications,
    "/api/v1/organisations/:org/shared-applications/:clientId",
    { operationId: "apiReadSharedApplication", summary: "Get an application that is offered or enabled" },
    ({ orgId, id }) => findShared(deps.database.query, { orgId, id }),
  );
  changeRoutes(api, deps);
}

function changeRoutes(api: ApiScope, deps: ApiDeps): void {
  const shared = {
    credential: "access-token",
    ...{ tag: "API v1: shared applications", query: noParameters },
    description: "Scope: `signet:applications:write`.",
    authenticator: apiAuthenticator(deps, "signet:applications:write"),
    path: "/api/v1/organisations/:org/shared-applications/:clientId",
  } as const;
  apiRoute<ApiCaller, typeof noParameters, typeof sharing, Database>(api, {
    ...{ ...shared, method: "PUT", body: sharing, example: { scopes: ["openid", "profile", "email"] } },
    operationId: "apiEnableSharedApplication",
    summary: "Enable an application of another organisation, with the scopes it may have here",
    answers: { 200: { description: "The application", schema: sharedApplicationSchema } },
    handler: async ({ caller, params, body, within }) => {
      const id = idOf(params, "clientId");
      requireOther(caller, id);
      requireHeldScopes(caller, body.scopes);
      const enabling = inTransaction(deps, within, (inside) =>
        enableShared(inside, { ...actOf(caller), id, scopes: body.scopes }),
      );
      const enabled = await enabling.catch(toAnswer);
      if (!enabled) throw notFound();
      return { status: 200, body: sharedApplicationRecord(enabled) };
    },
  });
  apiRoute<ApiCaller, typeof noParameters, undefined, Database>(api, {
    ...{ ...shared, method: "DELETE" },
    operationId: "apiWithdrawSharedApplication",
    summary: "Withdraw an application of another organisation: its tokens here end",
    answers: { 204: { description: "Withdrawn" } },
    handler: async ({ caller, params, within }) => {
      const id = idOf(params, "clientId");
      requireOther(caller, id);
      const isDone = await inTransaction(deps, within, (inside) =>
        withdrawShared(inside, { ...actOf(caller), id }),
      );
      if (!isDone) throw notFound();
      return { status: 204 };
    },
  });
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidSharing || error instanceof InvalidApplication)
    throw invalidMembers(error.faults, (member) => (member === "allowedScopes" ? "scopes" : member));
  throw error;
}

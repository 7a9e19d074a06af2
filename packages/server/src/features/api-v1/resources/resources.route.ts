/** /api/v1/organisations/{org}/resources: what access tokens are for (modern-oauth.md §6). */
import { applyGivenScopes } from "../../../core/protected-resources/given-scopes.ts";
import {
  InvalidResource,
  ResourceConflict,
  type ResourceWithScopes,
} from "../../../core/protected-resources/protected-resource.ts";
import {
  changeResource,
  createResource,
  deleteResource,
  findResourceWithScopes,
  listResourcesWithScopes,
  type NewResource,
} from "../../../core/protected-resources/protected-resources.ts";
import { ScopeConflict } from "../../../core/scopes/custom-scopes.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { invalidMembers } from "../frame/member-faults.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  newResource,
  resourceFields,
  resourcePatch,
  resourceRecord,
  resourceSchema,
  sentScopes,
  sentSettings,
} from "./resource-record.ts";

const example = {
  identifier: "https://payments.example/api",
  name: "Payments",
  scopes: [{ name: "payments:write", displayName: "Make payments", sensitive: true }],
  accessTokenLifetimeSeconds: 300,
};

export function apiResourcesRoutes(api: ApiScope, deps: ApiDeps): void {
  const resources: ApiResource<ResourceWithScopes> = {
    ...{ api, deps, tag: "API v1: resources", one: "resource", many: "resources" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    ...{ schema: resourceSchema, record: resourceRecord, toAnswer },
  };
  listRoute(
    resources,
    "/api/v1/organisations/:org/resources",
    { operationId: "apiListResources", summary: "List the protected resources", fields: resourceFields },
    // An organisation has at most a hundred.
    async ({ orgId, list }) =>
      memoryPage(list, await listResourcesWithScopes(deps.database.query, orgId), {
        ...{ fields: resourceFields, record: resourceRecord },
      }),
  );
  getRoute(
    resources,
    "/api/v1/organisations/:org/resources/:id",
    { operationId: "apiReadResource", summary: "Get a protected resource" },
    ({ orgId, id }) => findResourceWithScopes(deps.database.query, { orgId, id }),
  );
  createRoute(
    resources,
    "/api/v1/organisations/:org/resources",
    {
      ...{ operationId: "apiCreateResource", summary: "Create a protected resource", errors: [409] },
      ...{ body: newResource, example },
    },
    async (inside, { caller, body }) => {
      const act = actOf(caller);
      const scopes = await applyGivenScopes(inside, act, sentScopes(body) ?? []);
      const settings = sentSettings(body) as NewResource;
      return { row: await createResource(inside, { ...act, settings, scopes }) };
    },
  );
  changeRoutes(resources);
}

function changeRoutes(resources: ApiResource<ResourceWithScopes>): void {
  patchRoute(
    resources,
    "/api/v1/organisations/:org/resources/:id",
    {
      ...{ operationId: "apiChangeResource", summary: "Change a protected resource", errors: [409] },
      ...{ body: resourcePatch, example: { accessTokenFormat: "opaque" } },
    },
    async (inside, { caller, id, check, patch }) => {
      const act = actOf(caller);
      const given = sentScopes(patch);
      const scopes = given && (await applyGivenScopes(inside, act, given, id));
      const change = { settings: sentSettings(patch), scopes };
      return changeResource(inside, { ...act, id, check, change });
    },
  );
  deleteRoute(
    resources,
    "/api/v1/organisations/:org/resources/:id",
    { operationId: "apiDeleteResource", summary: "Delete a protected resource; its scopes stay" },
    (inside, { caller, id, check }) => deleteResource(inside, { ...actOf(caller), id, check }),
  );
}

const wireNames: Readonly<Record<string, string>> = { accessTokenAlg: "accessTokenSignedResponseAlg" };

function toAnswer(error: unknown): never {
  if (error instanceof InvalidResource) throw invalidMembers(error.faults, (name) => wireNames[name] ?? name);
  if (error instanceof ScopeConflict) throw stale();
  if (!(error instanceof ResourceConflict)) throw error;
  throw conflict("The organisation has a resource with this identifier.");
}

/** Protected resources of the organisation (modern-oauth.md §6). */
import { applyGivenScopes } from "../../core/protected-resources/given-scopes.ts";
import {
  InvalidResource,
  ResourceConflict,
  type ResourceWithScopes,
} from "../../core/protected-resources/protected-resource.ts";
import {
  changeResource,
  createResource,
  deleteResource,
  findResourceWithScopes,
  listResourcesWithScopes,
} from "../../core/protected-resources/protected-resources.ts";
import { ScopeConflict } from "../../core/scopes/custom-scopes.ts";
import { conflict } from "../../http/api/api-error.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { requireMatch, stale } from "../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../http/api/paging.ts";
import { by, inTransaction, invalidMembers, type ManagementDeps } from "./management.ts";
import {
  changedResourceSchema,
  givenScopes,
  newResourceSchema,
  readOnlyMembers,
  resourceRecord,
  resourceSchema,
  resourceSettings,
} from "./resource-record.ts";
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type ResourceRoutes,
  replaceRoute,
  type WriteCall,
} from "./resource-routes.ts";

const example = {
  identifier: "https://payments.example/api",
  name: "Payments",
  scopes: [{ name: "payments:write", displayName: "Make payments", sensitive: true }],
  AccessTokenLifetimeSeconds: 300,
  senderConstraint: "dpop",
};

export function resourcesRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const resources: ResourceRoutes<ResourceWithScopes> = {
    ...{ api, deps, tag: "Resources", one: "resource", many: "resources" },
    ...{ schema: resourceSchema, record: resourceRecord, toAnswer },
  };
  listRoute(
    resources,
    "/legacy/api/oauth/resources",
    {
      operationId: "listResources",
      summary: "List protected resources, oldest first",
      query: pageQuerySchema,
    },
    async (orgId, { after = "" }) => {
      // An organisation has at most a hundred.
      const all = await listResourcesWithScopes(db, orgId);
      return all.filter(({ id }) => id > after);
    },
  );
  getRoute(
    resources,
    "/legacy/api/oauth/resources/:id",
    { operationId: "getResource", summary: "Get a protected resource" },
    (orgId, id) => findResourceWithScopes(db, { orgId, id }),
  );
  writeRoutes(resources, deps);
}

function writeRoutes(resources: ResourceRoutes<ResourceWithScopes>, deps: ManagementDeps): void {
  createRoute(
    resources,
    "/legacy/api/oauth/resources",
    {
      ...{ operationId: "createResource", summary: "Create a protected resource" },
      ...{ body: newResourceSchema, example },
    },
    async (inside, { caller, body }) => {
      const act = { orgId: caller.organisation.id, ...by(caller) };
      const scopes = await applyGivenScopes(inside, act, givenScopes(body));
      return { row: await createResource(inside, { ...act, settings: resourceSettings(body), scopes }) };
    },
  );
  replaceRoute(
    resources,
    "/legacy/api/oauth/resources/:id",
    {
      ...{ operationId: "replaceResource", summary: "Replace a protected resource" },
      ...{ body: changedResourceSchema, readOnly: readOnlyMembers, example },
    },
    (key, call) =>
      inTransaction(deps, undefined, async (inside) => {
        const scopes = await applyGivenScopes(inside, key, givenScopes(call.body), key.id);
        const change = { settings: resourceSettings(call.body), scopes };
        return changeResource(inside, { ...key, change, check: matching(call) });
      }),
  );
  deleteRoute(
    resources,
    "/legacy/api/oauth/resources/:id",
    { operationId: "deleteResource", summary: "Delete a protected resource; its scopes stay" },
    (key, call) => deleteResource(deps, { ...key, check: matching(call) }),
  );
}

/** @throws ApiError 412 */
const matching =
  ({ request }: WriteCall<unknown>) =>
  ({ version }: ResourceWithScopes): void =>
    requireMatch(request, version);

const wireNames: Readonly<Record<string, string>> = {
  accessTokenLifetimeSeconds: "AccessTokenLifetimeSeconds",
};

function toAnswer(error: unknown): never {
  if (error instanceof InvalidResource) throw invalidMembers(error.faults, (name) => wireNames[name] ?? name);
  if (error instanceof ScopeConflict) throw stale();
  if (!(error instanceof ResourceConflict)) throw error;
  throw conflict("The organisation has a resource with this identifier.");
}

/** /api/v1/organisations/{org}/scopes: the organisation's own scopes. */

import Type from "typebox";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import {
  changeCustomScope,
  createCustomScope,
  deleteCustomScope,
  ScopeConflict,
} from "../../../core/scopes/custom-scopes.ts";
import { type ScopeUse, useTypes } from "../../../core/scopes/scope-uses.store.ts";
import { findCustomScope, listCustomScopes, lockCustomScope } from "../../../core/scopes/scopes.store.ts";
import { InvalidScope } from "../../../core/scopes/validation.ts";
import { conflict, notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { idOf } from "../../../http/api/path-id.ts";
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
  type RecordCall,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { newScope, scopeContent, scopeFields, scopePatch, scopeRecord, scopeSchema } from "./scope-record.ts";
import { listScopeUses, useFields } from "./scope-uses.store.ts";

const example = {
  name: "payroll",
  displayName: "Payroll",
  claims: [{ name: "cost_centre", source: "membership", path: "attributes.costCentre" }],
  sensitive: true,
};

export function apiScopesRoutes(api: ApiScope, deps: ApiDeps): void {
  const scopes: ApiResource<CustomScope> = {
    ...{ api, deps, tag: "API v1: scopes", one: "scope", many: "scopes" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: scopeSchema,
    record: scopeRecord,
    toAnswer,
  };
  listRoute(
    scopes,
    "/api/v1/organisations/:org/scopes",
    { operationId: "apiListScopes", summary: "List the organisation's scopes", fields: scopeFields },
    // An organisation has at most a hundred.
    async ({ orgId, list }) =>
      memoryPage(list, await listCustomScopes(deps.database.query, orgId), {
        fields: scopeFields,
        record: scopeRecord,
      }),
  );
  getRoute(
    scopes,
    "/api/v1/organisations/:org/scopes/:id",
    { operationId: "apiReadScope", summary: "Get a scope" },
    ({ orgId, id }) => findCustomScope(deps.database.query, orgId, id),
  );
  createRoute(
    scopes,
    "/api/v1/organisations/:org/scopes",
    { operationId: "apiCreateScope", summary: "Create a scope", body: newScope, example },
    async (inside, { caller, body }) => {
      const { name, displayName = name, description = "", claims = [], sensitive = false } = body;
      const content = scopeContent(name, { displayName, description, claims, sensitive });
      const whole = { displayName, description, claims: content.claims ?? [], sensitive };
      return { row: await createCustomScope(inside, { ...actOf(caller), name, ...whole }) };
    },
  );
  changeRoutes(scopes);
  usesRoute(scopes);
}

const useSchema = Type.Object(
  {
    type: Type.Enum([...useTypes]),
    id: Type.String({ format: "uuid", description: "Of the application, consent or pre-authorization" }),
    name: Type.String({ description: "Of the application; for a user's consent, with the email address" }),
  },
  { title: "ApiScopeUse" },
);

function usesRoute({ api, deps, tag, reads, writes }: ApiResource<CustomScope>): void {
  const uses: ApiResource<ScopeUse> = {
    ...{ api, deps, tag, reads, writes, one: "use", many: "uses", schema: useSchema },
    record: ({ type, id, name }) => ({ type, id, name }),
  };
  listRoute(
    uses,
    "/api/v1/organisations/:org/scopes/:id/uses",
    {
      operationId: "apiListScopeUses",
      summary: "List what uses a scope, and loses it with the scope's deletion",
      fields: useFields,
    },
    async ({ orgId, params, list }) => {
      const scope = await findCustomScope(deps.database.query, orgId, idOf(params));
      if (!scope) throw notFound();
      return listScopeUses(deps.database.query, scope, list);
    },
  );
}

function changeRoutes(scopes: ApiResource<CustomScope>): void {
  patchRoute(
    scopes,
    "/api/v1/organisations/:org/scopes/:id",
    {
      operationId: "apiChangeScope",
      summary: "Change a scope, except its name",
      body: scopePatch,
      example: { sensitive: true },
    },
    async (inside, call) => {
      const scope = await lockedScope(inside, call);
      if (!scope) return undefined;
      const content = scopeContent(scope.name, call.patch);
      return changeCustomScope(inside, { ...actOf(call.caller), id: call.id, content });
    },
  );
  deleteRoute(
    scopes,
    "/api/v1/organisations/:org/scopes/:id",
    {
      operationId: "apiDeleteScope",
      summary: "Delete a scope: clients, consents and tokens lose it at once",
    },
    async (inside, call) => {
      // First, as every deletion of a scope does: in another order two would wait for each other.
      await lockOrganisation(inside.database.query, call.orgId);
      const scope = await lockedScope(inside, call);
      return scope !== undefined && deleteCustomScope(inside, { ...actOf(call.caller), id: call.id });
    },
  );
}

/** @throws ApiError 412 */
async function lockedScope(
  { database: { query } }: ApiDeps,
  { orgId, id, check }: RecordCall<CustomScope>,
): Promise<CustomScope | undefined> {
  await lockCustomScope(query, { orgId, id });
  const scope = await findCustomScope(query, orgId, id);
  if (scope) await check(scope);
  return scope;
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidScope) throw invalidMembers(error.faults);
  if (!(error instanceof ScopeConflict)) throw error;
  throw error.code === "name-taken" ? conflict("The organisation has a scope with this name.") : stale();
}

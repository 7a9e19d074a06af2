/** Custom scopes of the organisation. */
import type { CustomScope } from "../../core/scopes/custom-scope.ts";
import {
  changeCustomScope,
  createCustomScope,
  deleteCustomScope,
  ScopeConflict,
} from "../../core/scopes/custom-scopes.ts";
import { findCustomScope, listCustomScopes } from "../../core/scopes/scopes.store.ts";
import { InvalidScope } from "../../core/scopes/validation.ts";
import { conflict, invalid, notFound } from "../../http/api/api-error.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { requireMatch, stale } from "../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../http/api/paging.ts";
import { by, inTransaction, invalidMembers, type ManagementDeps } from "./management.ts";
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type RecordKey,
  type ResourceRoutes,
  replaceRoute,
  type WriteCall,
} from "./resource-routes.ts";
import {
  changedScopeSchema,
  newScopeSchema,
  readOnlyMembers,
  scopeContent,
  scopeRecord,
  scopeSchema,
} from "./scope-record.ts";

const example = {
  name: "payroll",
  displayName: "Payroll",
  claims: [{ name: "cost_centre", source: "membership", path: "attributes.costCentre" }],
  sensitive: true,
};

export function scopesRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const scopes: ResourceRoutes<CustomScope> = {
    api,
    deps,
    tag: "Scopes",
    one: "scope",
    many: "scopes",
    schema: scopeSchema,
    record: scopeRecord,
    toAnswer,
  };
  listRoute(
    scopes,
    "/legacy/api/oauth/scopes",
    { operationId: "listScopes", summary: "List custom scopes, oldest first", query: pageQuerySchema },
    async (orgId, { after = "" }) => {
      // An organisation has at most a hundred.
      const all = await listCustomScopes(db, orgId);
      return all.filter(({ id }) => id > after);
    },
  );
  getRoute(
    scopes,
    "/legacy/api/oauth/scopes/:id",
    { operationId: "getScope", summary: "Get a custom scope" },
    (orgId, id) => findCustomScope(db, orgId, id),
  );
  writeRoutes(scopes, deps);
}

function writeRoutes(scopes: ResourceRoutes<CustomScope>, deps: ManagementDeps): void {
  createRoute(
    scopes,
    "/legacy/api/oauth/scopes",
    { operationId: "createScope", summary: "Create a custom scope", body: newScopeSchema, example },
    async (inside, { caller, body }) => {
      const content = scopeContent(body.name, body);
      const orgId = caller.organisation.id;
      return { row: await createCustomScope(inside, { orgId, name: body.name, ...content, ...by(caller) }) };
    },
  );
  replaceRoute(
    scopes,
    "/legacy/api/oauth/scopes/:id",
    {
      operationId: "replaceScope",
      summary: "Replace a custom scope, except its name",
      body: changedScopeSchema,
      readOnly: readOnlyMembers,
      example,
    },
    (key, call) =>
      inTransaction(deps, undefined, async (inside) => {
        const { name, version } = await currentScope(inside, key, call);
        // Clients and consents refer to a scope by its name.
        if (call.body.name !== undefined && call.body.name !== name)
          throw invalid([{ path: "/name", message: "cannot be changed: create another scope" }]);
        return changeCustomScope(inside, { ...key, version, content: scopeContent(name, call.body) });
      }),
  );
  deleteRoute(
    scopes,
    "/legacy/api/oauth/scopes/:id",
    { operationId: "deleteScope", summary: "Delete a custom scope" },
    (key, call) =>
      inTransaction(deps, undefined, async (inside) => {
        const { version } = await currentScope(inside, key, call);
        return deleteCustomScope(inside, { ...key, version });
      }),
  );
}

/** @throws ApiError 404, 412 */
async function currentScope(
  { database }: ManagementDeps,
  { orgId, id }: RecordKey,
  { request }: WriteCall<unknown>,
): Promise<CustomScope> {
  const scope = await findCustomScope(database.query, orgId, id);
  if (!scope) throw notFound();
  requireMatch(request, scope.version);
  return scope;
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidScope) throw invalidMembers(error.faults);
  if (!(error instanceof ScopeConflict)) throw error;
  throw error.code === "name-taken" ? conflict("The organisation has a scope with this name.") : stale();
}

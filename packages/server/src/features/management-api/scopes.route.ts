/** The custom scopes of the organisation: listed, read, made, replaced, deleted. */

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
import { type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { etagOf, requireMatch, stale } from "../../http/api/concurrency.ts";
import { pageOf, pageSchema, readPage } from "../../http/api/paging.ts";
import {
  acting,
  by,
  idOf,
  invalidMembers,
  locationOf,
  type ManagementDeps,
  pageQuerySchema,
  versioned,
} from "./management.ts";
import {
  changedScopeSchema,
  newScopeSchema,
  readOnlyMembers,
  scopeContent,
  scopeRecord,
  scopeSchema,
} from "./scope-record.ts";

const PATH = "/legacy/api/oauth/scopes";
const shared = { tag: "Scopes", credential: "administrator" } as const;
const example = {
  name: "payroll",
  displayName: "Payroll",
  claims: [{ name: "cost_centre", source: "membership", path: "attributes.costCentre" }],
  sensitive: true,
};

export function scopesRoutes(api: ApiScope, deps: ManagementDeps): void {
  readRoutes(api, deps);
  createRoute(api, deps);
  replaceRoute(api, deps);
  deleteRoute(api, deps);
}

function readRoutes(api: ApiScope, { database, door }: ManagementDeps): void {
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: PATH,
      operationId: "listScopes",
      summary: "The organisation's custom scopes, oldest first",
      query: pageQuerySchema,
      answers: { 200: { description: "A page of scopes", schema: pageSchema(scopeSchema) } },
    },
    async ({ caller, query }) => {
      const page = readPage(query);
      const { after = "" } = page;
      // There are at most a hundred.
      const all = await listCustomScopes(database.query, caller.organisation.id);
      const { items, nextCursor } = pageOf(
        all.filter(({ id }) => id > after),
        page,
      );
      return { status: 200, body: { items: items.map(scopeRecord), nextCursor } };
    },
  );
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: `${PATH}/:id`,
      operationId: "getScope",
      summary: "One custom scope",
      answers: { 200: { description: "The scope", schema: scopeSchema } },
    },
    async ({ caller, params }) => {
      const scope = await findCustomScope(database.query, caller.organisation.id, idOf(params));
      if (!scope) throw notFound();
      return versioned(scopeRecord(scope), scope.version);
    },
  );
}

function createRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: PATH,
      operationId: "createScope",
      summary: "Make a custom scope",
      body: newScopeSchema,
      lenient: { readOnly: [] },
      example,
      answers: { 201: { description: "The scope", schema: scopeSchema } },
    },
    ({ caller, body, within }) =>
      acting(deps, within, async (inside) => {
        const { name } = body;
        const made = {
          orgId: caller.organisation.id,
          name,
          ...scopeContent(name, body),
          ...by(caller),
        };
        const scope = await createCustomScope(inside, made).catch(toAnswer);
        const headers = { location: locationOf(deps, `scopes/${scope.id}`), etag: etagOf(scope.version) };
        return { status: 201, headers, body: scopeRecord(scope) };
      }),
  );
}

function replaceRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "PUT",
      path: `${PATH}/:id`,
      operationId: "replaceScope",
      summary: "Replace a custom scope's record, its name excepted",
      body: changedScopeSchema,
      lenient: { readOnly: readOnlyMembers },
      example,
      answers: { 200: { description: "The scope as it is now", schema: scopeSchema } },
    },
    ({ caller, params, body, request, within }) =>
      acting(deps, within, async (inside) => {
        const key = { orgId: caller.organisation.id, id: idOf(params), ...by(caller) };
        const before = await findCustomScope(inside.database.query, key.orgId, key.id);
        if (!before) throw notFound();
        requireMatch(request, before.version);
        requireSameName(body.name, before);
        const change = { ...key, version: before.version, content: scopeContent(before.name, body) };
        const after = await changeCustomScope(inside, change).catch(toAnswer);
        if (!after) throw notFound();
        return versioned(scopeRecord(after), after.version);
      }),
  );
}

function deleteRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "DELETE",
      path: `${PATH}/:id`,
      operationId: "deleteScope",
      summary: "Delete a custom scope: it gives nothing any more",
      answers: { 204: { description: "It is gone" } },
    },
    ({ caller, params, request, within }) =>
      acting(deps, within, async (inside) => {
        const key = { orgId: caller.organisation.id, id: idOf(params), ...by(caller) };
        const before = await findCustomScope(inside.database.query, key.orgId, key.id);
        if (!before) throw notFound();
        requireMatch(request, before.version);
        const gone = await deleteCustomScope(inside, { ...key, version: before.version }).catch(toAnswer);
        if (!gone) throw notFound();
        return { status: 204 };
      }),
  );
}

/** Clients and consents name it. @throws ApiError 422 */
function requireSameName(name: string | undefined, before: CustomScope): void {
  if (name !== undefined && name !== before.name)
    throw invalid([{ path: "/name", message: "cannot be changed: make another scope" }]);
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidScope) throw invalidMembers(error.faults);
  if (!(error instanceof ScopeConflict)) throw error;
  throw error.code === "name-taken" ? conflict("The organisation has a scope of this name.") : stale();
}

/** The clients of the organisation: listed, read, made, replaced, deleted. */

import { usesSecrets } from "../../../core/applications/application.ts";
import {
  ApplicationChanged,
  changeApplication,
  deleteApplication,
} from "../../../core/applications/application-changes.ts";
import { findApplication, listApplications } from "../../../core/applications/applications.store.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createClientSecret } from "../../../core/applications/client-secrets.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SystemAccountCaller } from "../../../core/system-accounts/caller.ts";
import { ApiError, invalid, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { etagOf, requireMatch, stale } from "../../../http/api/concurrency.ts";
import { pageOf, pageSchema, readPage } from "../../../http/api/paging.ts";
import {
  acting,
  by,
  idOf,
  invalidMembers,
  locationOf,
  type ManagementDeps,
  pageQuerySchema,
  versioned,
} from "../management.ts";
import {
  changedClientSchema,
  clientRecord,
  clientSchema,
  createdClientSchema,
  newClientSchema,
  readOnlyMembers,
  settingsOf,
  wireNameOf,
} from "./client-record.ts";

const PATH = "/legacy/api/oauth/clients";
const shared = { tag: "Clients", credential: "administrator" } as const;
const example = {
  name: "Shop",
  clientType: "confidential",
  redirectUris: ["https://shop.example/callback"],
  allowedScopes: ["openid", "profile", "email"],
  RequireConsent: false,
};

export function clientsRoutes(api: ApiScope, deps: ManagementDeps): void {
  listRoute(api, deps);
  getRoute(api, deps);
  createRoute(api, deps);
  replaceRoute(api, deps);
  deleteRoute(api, deps);
}

function listRoute(api: ApiScope, { database, door }: ManagementDeps): void {
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: PATH,
      operationId: "listClients",
      summary: "The organisation's OAuth clients, oldest first",
      query: pageQuerySchema,
      answers: { 200: { description: "A page of clients", schema: pageSchema(clientSchema) } },
    },
    async ({ caller, query }) => {
      const page = readPage(query);
      const rows = await listApplications(database.query, caller.organisation.id, {
        limit: page.limit + 1,
        ...(page.after === undefined ? {} : { after: page.after }),
      });
      const { items, nextCursor } = pageOf(rows, page);
      return { status: 200, body: { items: items.map(clientRecord), nextCursor } };
    },
  );
}

function getRoute(api: ApiScope, { database, door }: ManagementDeps): void {
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: `${PATH}/:clientId`,
      operationId: "getClient",
      summary: "One OAuth client",
      answers: { 200: { description: "The client", schema: clientSchema } },
    },
    async ({ caller, params }) => {
      const found = await findApplication(database.query, caller.organisation.id, idOf(params, "clientId"));
      if (!found) throw notFound();
      return versioned(clientRecord(found), found.version);
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
      operationId: "createClient",
      summary: "Make an OAuth client; a confidential one gets its first secret, shown once",
      body: newClientSchema,
      lenient: { readOnly: [] },
      example,
      answers: { 201: { description: "The client", schema: createdClientSchema } },
    },
    ({ caller, body, within }) =>
      acting(deps, within, async (inside): Promise<Answer> => {
        const { name, clientType, enabled = true } = body;
        const orgId = caller.organisation.id;
        const settings = settingsOf(body, clientType);
        const made = { orgId, name, clientType, settings, disabled: !enabled, ...by(caller) };
        const application = await createApplication(inside, made).catch(toMembers);
        const { id } = application;
        const answer = {
          status: 201,
          headers: { location: locationOf(deps, `clients/${id}`), etag: etagOf(1) },
        };
        if (!usesSecrets(application)) return { ...answer, body: clientRecord(application) };
        const { secret, plaintext } = await createClientSecret(inside, {
          orgId,
          applicationId: id,
          label: "first",
          expiresAt: null,
          ...by(caller),
        });
        const record = clientRecord({ ...application, secrets: [secret] });
        return { ...answer, body: { ...record, clientSecret: plaintext }, shownOnce: ["clientSecret"] };
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
      path: `${PATH}/:clientId`,
      operationId: "replaceClient",
      summary: "Replace an OAuth client's record: what is left out gets its default again",
      body: changedClientSchema,
      lenient: { readOnly: readOnlyMembers },
      example,
      answers: { 200: { description: "The client as it is now", schema: clientSchema } },
    },
    async ({ caller, params, body, request }) => {
      const key = { orgId: caller.organisation.id, id: idOf(params, "clientId"), ...by(caller) };
      const check = ({ version }: { version: number }) => requireMatch(request, version);
      const changed = await changeApplication(deps, { ...key, check }, ({ clientType, settings }) => {
        // Tokens that were issued to a client that proves itself would be good in the hands of one that does not.
        if (body.clientType !== undefined && body.clientType !== clientType)
          throw invalid([{ path: "/clientType", message: "cannot be changed: make another client" }]);
        if (body.enabled === false) requireOthers(caller, key.id);
        return {
          name: body.name,
          settings: settingsOf(body, clientType, settings),
          disabled: body.enabled === false,
        };
      }).catch(toMembers);
      if (!changed) throw notFound();
      return versioned(clientRecord(changed), changed.version);
    },
  );
}

function deleteRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "DELETE",
      path: `${PATH}/:clientId`,
      operationId: "deleteClient",
      summary: "Delete an OAuth client with all that hangs on it, for good",
      answers: { 204: { description: "It is gone" } },
    },
    async ({ caller, params, request }) => {
      const id = idOf(params, "clientId");
      const check = ({ version }: { version: number }) => {
        requireMatch(request, version);
        requireOthers(caller, id);
      };
      const key = { orgId: caller.organisation.id, id, ...by(caller), check };
      if (!(await deleteApplication(deps, key).catch(toMembers))) throw notFound();
      return { status: 204 };
    },
  );
}

/** Deleted or disabled, the caller's own client would take the caller along. @throws ApiError 409 */
function requireOthers({ account }: SystemAccountCaller, clientId: string): void {
  if (account.applicationId !== clientId) return;
  throw new ApiError(409, "own-application", "The calling system account belongs to this client", {
    detail: "Delete or disable it with an administrator's account of another application.",
  });
}

function toMembers(error: unknown): never {
  if (error instanceof InvalidApplication) throw invalidMembers(error.faults, wireNameOf);
  throw error instanceof ApplicationChanged ? stale() : error;
}

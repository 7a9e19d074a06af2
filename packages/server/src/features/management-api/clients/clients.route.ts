/** OAuth clients of the organisation. */
import type { Static } from "typebox";
import { type Application, usesSecrets } from "../../../core/applications/application.ts";
import {
  ApplicationChanged,
  changeApplication,
  deleteApplication,
} from "../../../core/applications/application-changes.ts";
import { ForeignApplication } from "../../../core/applications/application-copies.ts";
import { findOwnApplication, listApplications } from "../../../core/applications/applications.store.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createClientSecret } from "../../../core/applications/client-secrets.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SystemAccountCaller } from "../../../core/system-accounts/system-account.ts";
import { ApiError, conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { requireMatch, stale } from "../../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../../http/api/paging.ts";
import { by, invalidMembers, type ManagementDeps } from "../management.ts";
import {
  type Created,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type RecordKey,
  type ResourceRoutes,
  replaceRoute,
  type WriteCall,
} from "../resource-routes.ts";
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

const example = {
  name: "Shop",
  clientType: "confidential",
  redirectUris: ["https://shop.example/callback"],
  allowedScopes: ["openid", "profile", "email"],
  RequireConsent: false,
};

export function clientsRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const clients: ResourceRoutes<Application> = {
    api,
    deps,
    tag: "Clients",
    one: "client",
    many: "clients",
    schema: clientSchema,
    record: clientRecord,
    toAnswer,
    idParameter: "clientId",
  };
  listRoute(
    clients,
    "/legacy/api/oauth/clients",
    { operationId: "listClients", summary: "List OAuth clients, oldest first", query: pageQuerySchema },
    (orgId, { limit, after }) => listApplications(db, orgId, { limit: limit + 1, after, isOwn: true }),
  );
  getRoute(
    clients,
    "/legacy/api/oauth/clients/:clientId",
    { operationId: "getClient", summary: "Get an OAuth client" },
    (orgId, id) => findOwnApplication(db, orgId, id),
  );
  writeRoutes(clients, deps);
}

function writeRoutes(clients: ResourceRoutes<Application>, deps: ManagementDeps): void {
  createRoute(
    clients,
    "/legacy/api/oauth/clients",
    {
      operationId: "createClient",
      summary: "Create an OAuth client; the response shows a confidential client's first secret once",
      body: newClientSchema,
      created: createdClientSchema,
      example,
    },
    createClient,
  );
  replaceRoute(
    clients,
    "/legacy/api/oauth/clients/:clientId",
    {
      operationId: "replaceClient",
      summary: "Replace an OAuth client; omitted members return to their defaults",
      body: changedClientSchema,
      readOnly: readOnlyMembers,
      example,
    },
    (key, call) => replaceClient(deps, key, call),
  );
  deleteRoute(
    clients,
    "/legacy/api/oauth/clients/:clientId",
    { operationId: "deleteClient", summary: "Delete an OAuth client and all its tokens permanently" },
    (key, { caller, request }) => {
      const check = ({ version }: Application) => {
        requireMatch(request, version);
        requireOtherClient(caller, key.id);
      };
      return deleteApplication(deps, { ...key, check });
    },
  );
}

async function createClient(
  inside: ManagementDeps,
  { caller, body }: WriteCall<Static<typeof newClientSchema>>,
): Promise<Created<Application>> {
  const { name, clientType, enabled = true } = body;
  const orgId = caller.organisation.id;
  const settings = settingsOf(body, clientType);
  const input = { orgId, name, clientType, settings, disabled: !enabled, ...by(caller) };
  const application = await createApplication(inside, input);
  if (!usesSecrets(application)) return { row: application };
  const { secret, plaintext } = await createClientSecret(inside, {
    orgId,
    applicationId: application.id,
    label: "first",
    expiresAt: null,
    ...by(caller),
  });
  return {
    row: { ...application, secrets: [secret] },
    members: { clientSecret: plaintext },
    shownOnce: ["clientSecret"],
  };
}

function replaceClient(
  deps: ManagementDeps,
  key: RecordKey,
  { caller, body, request }: WriteCall<Static<typeof changedClientSchema>>,
): Promise<Application | undefined> {
  const check = ({ version }: Application) => requireMatch(request, version);
  return changeApplication(deps, { ...key, check }, ({ clientType, settings }) => {
    // Tokens issued to a client that authenticates must not become usable by one that doesn't.
    if (body.clientType !== undefined && body.clientType !== clientType)
      throw invalid([{ path: "/clientType", message: "cannot be changed: create another client" }]);
    const disabled = body.enabled === false;
    if (disabled) requireOtherClient(caller, key.id);
    return { name: body.name, settings: settingsOf(body, clientType, settings), disabled };
  });
}

/** Deleting or disabling its own client would lock the caller out. @throws ApiError 409 */
function requireOtherClient({ account }: SystemAccountCaller, clientId: string): void {
  if (account.applicationId !== clientId) return;
  throw new ApiError(409, "own-application", "The calling system account belongs to this client", {
    detail: "Use an administrator's system account of another client.",
  });
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidApplication) throw invalidMembers(error.faults, wireNameOf);
  if (error instanceof ForeignApplication) throw conflict(`${error.message}.`);
  throw error instanceof ApplicationChanged ? stale() : error;
}

/** /api/v1/organisations/{org}/connections: to directories and identity providers. */
import { type Connection, InvalidConnection } from "../../../core/connections/connection.ts";
import {
  findConnection,
  listConnections,
  lockConnection,
} from "../../../core/connections/connections.store.ts";
import { changeConnection, createConnection } from "../../../core/connections/connections.ts";
import { deleteConnection } from "../../../core/connections/delete-connection.ts";
import { linkedAt } from "../../../core/connections/sign-in/link-authority.ts";
import {
  changeSignInConnection,
  createSignInConnection,
  InvalidSignInConnection,
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import { GroupConflict } from "../../../core/groups/group.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { type ApiCaller, actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
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
import {
  askedConnection,
  isSignInKind,
  patchedConnection,
  prepareConnection,
  refuseMembers,
  requireMayLink,
} from "./asked-connection.ts";
import {
  connectionFields,
  connectionPatch,
  connectionRecord,
  connectionSchema,
  newConnection,
} from "./connection-record.ts";
import { askedSignIn } from "./sign-in-schema.ts";
import { apiConnectionSignInsRoutes } from "./sign-ins.route.ts";
import { apiConnectionTestsRoutes } from "./tests.route.ts";
import { apiConnectionCallsRoutes, apiConnectionTokensRoutes } from "./tokens.route.ts";

/** Metadata of 256 KiB, as JSON. */
const MAX_BODY_BYTES = 640 * 1024;

const LINKING = [
  "With `linking: verifiedEmail` `signet:organisation:write` too: the provider may then speak for administrators.",
  "Unless `linking` is `never`, beside a directory `signet:users:write` too: its users are linked by `externalId`.",
  "`saml` of a connection that somebody is linked at needs `signet:users:write`, and where an administrator is, `signet:organisation:write`: who chooses its keys speaks for them.",
  "With `mapping.groups` `signet:groups:write` too. Names and `shown` need none of them.",
].join(" ");

const hasDirectory = async ({ database }: ApiDeps, caller: ApiCaller): Promise<boolean> =>
  (await listConnections(database.query, caller.organisation.id)).some(({ kind }) => kind === "scim");

export function apiConnectionsRoutes(api: ApiScope, deps: ApiDeps): void {
  const connections: ApiResource<Connection> = {
    ...{ api, deps, tag: "API v1: connections", one: "connection", many: "connections" },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
    schema: connectionSchema,
    record: (connection) => connectionRecord(deps, connection),
    toAnswer,
  };
  listRoute(
    connections,
    "/api/v1/organisations/:org/connections",
    { operationId: "apiListConnections", summary: "List the connections", fields: connectionFields },
    async ({ orgId, list }) =>
      memoryPage(list, await listConnections(deps.database.query, orgId), {
        fields: connectionFields,
        record: (connection) => connectionRecord(deps, connection),
      }),
  );
  getRoute(
    connections,
    "/api/v1/organisations/:org/connections/:id",
    { operationId: "apiReadConnection", summary: "Get a connection" },
    ({ orgId, id }) => findConnection(deps.database.query, { orgId, id }),
  );
  createRoute(
    connections,
    "/api/v1/organisations/:org/connections",
    {
      ...{ operationId: "apiCreateConnection", summary: "Create a connection", body: newConnection },
      description: LINKING,
      example: { kind: "scim", name: "Entra ID", deletionPolicy: "disable" },
      bodyLimit: MAX_BODY_BYTES,
      prepare: ({ orgId, body }) => prepareConnection(deps, orgId, body, true),
    },
    async (inside, { caller, body, prepared }) => {
      if (isSignInKind(body.kind)) {
        const asked = askedConnection(body.kind, body, prepared);
        const row = await createSignInConnection(inside, { ...actOf(caller), asked });
        // What is wrong with it is told first; a refusal rolls it back.
        requireMayLink(caller, body, { hasDirectory: await hasDirectory(inside, caller) });
        return { row };
      }
      refuseMembers(body, Object.keys(askedSignIn));
      const { name, enabled = true, deletionPolicy = "disable" } = body;
      const content = { name, enabled, deletionPolicy };
      return { row: await createConnection(inside, { ...actOf(caller), content }) };
    },
  );
  changeRoutes(connections, deps);
  apiConnectionTokensRoutes(api, deps, toAnswer);
  apiConnectionCallsRoutes(api, deps);
  apiConnectionSignInsRoutes(api, deps);
  apiConnectionTestsRoutes(api, deps);
}

function changeRoutes(connections: ApiResource<Connection>, deps: ApiDeps): void {
  patchRoute(
    connections,
    "/api/v1/organisations/:org/connections/:id",
    {
      ...{ operationId: "apiChangeConnection", summary: "Change a connection", body: connectionPatch },
      description: LINKING,
      example: { enabled: false },
      bodyLimit: MAX_BODY_BYTES,
      prepare: ({ orgId, body }) => prepareConnection(deps, orgId, body, false),
    },
    async (inside, call) => {
      const before = await lockedConnection(inside, call);
      if (!before) return undefined;
      const { name, enabled, deletionPolicy } = call.patch;
      if (name === null) throw invalid([{ path: "/name", message: "is required" }]);
      if (isSignInConnection(before)) {
        const linked = await linkedAt(inside.database.query, before);
        const beside = { before, linked, hasDirectory: await hasDirectory(inside, call.caller) };
        requireMayLink(call.caller, call.patch, beside);
        const ask = (present: SignInConnection) => patchedConnection(present, call.patch, call.prepared);
        return changeSignInConnection(inside, { ...actOf(call.caller), id: call.id, ask });
      }
      refuseMembers(call.patch, Object.keys(askedSignIn));
      const change = {
        ...(name !== undefined && { name }),
        ...(enabled !== undefined && { enabled: enabled ?? true }),
        ...(deletionPolicy !== undefined && { deletionPolicy: deletionPolicy ?? ("disable" as const) }),
      };
      return changeConnection(inside, { ...actOf(call.caller), id: call.id, change });
    },
  );
  deleteRoute(
    connections,
    "/api/v1/organisations/:org/connections/:id",
    {
      operationId: "apiDeleteConnection",
      summary: "Delete a connection: what it provisioned becomes the organisation's own",
    },
    async (inside, call) => {
      if (!(await lockedConnection(inside, call))) return false;
      return deleteConnection(inside, { ...actOf(call.caller), id: call.id });
    },
  );
}

/** @throws ApiError 412 */
async function lockedConnection(
  { database: { query } }: ApiDeps,
  { orgId, id, check }: RecordCall<Connection>,
): Promise<Connection | undefined> {
  const connection = await lockConnection(query, { orgId, id });
  if (connection) await check(connection);
  return connection;
}

const members = {
  "invalid-name": "/name",
  "invalid-label": "/label",
  "invalid-expiry": "/expiresAt",
} as const;

function toAnswer(error: unknown): never {
  if (error instanceof GroupConflict) throw conflict("One of its groups is being changed: try again.");
  if (error instanceof InvalidSignInConnection) throw invalid(error.faults);
  if (!(error instanceof InvalidConnection)) throw error;
  if (error.code === "name-taken") throw conflict("Another connection has this name.");
  if (error.code === "enforces-domain")
    throw conflict("The people of an enforced domain sign in by it alone: end that first.");
  if (error.code === "too-many-tokens") throw conflict("The connection has ten tokens: delete one first.");
  throw invalid([{ path: members[error.code], message: error.message }]);
}

/** /api/v1/organisations/{org}/connections/{id}/tokens and /calls: what a directory calls with, and what came of it. */
import type { ConnectionToken } from "../../../core/connections/connection.ts";
import {
  type ConnectionCall,
  listCalls,
  MAX_CALLS,
} from "../../../core/connections/connection-calls.store.ts";
import { findConnection, listTokens } from "../../../core/connections/connections.store.ts";
import { createToken, revokeToken } from "../../../core/connections/connections.ts";
import { scopesOfDirectoryToken } from "../../../core/connections/sign-in/link-authority.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { readWireTime } from "../../../http/api/times.ts";
import { actOf, requireHeld } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, deleteRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  callFields,
  callRecord,
  callSchema,
  createdTokenSchema,
  newToken,
  tokenFields,
  tokenRecord,
  tokenSchema,
} from "./connection-record.ts";

const tag = "API v1: connections";

/** Of a directory: others have neither tokens nor calls. @throws ApiError 404 */
async function requireConnection(
  { database: { query } }: ApiDeps,
  orgId: string,
  id: string,
): Promise<string> {
  if ((await findConnection(query, { orgId, id }))?.kind !== "scim") throw notFound();
  return id;
}

export function apiConnectionTokensRoutes(
  api: ApiScope,
  deps: ApiDeps,
  toAnswer: (error: unknown) => never,
): void {
  const tokens: ApiResource<ConnectionToken> = {
    ...{ api, deps, tag, one: "token", many: "tokens", schema: tokenSchema, record: tokenRecord, toAnswer },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
    ...{ idParameter: "tokenId", volatile: ["lastUsedAt"] },
  };
  listRoute(
    tokens,
    "/api/v1/organisations/:org/connections/:id/tokens",
    {
      operationId: "apiListConnectionTokens",
      summary: "List the tokens of a connection",
      fields: tokenFields,
    },
    async ({ orgId, params, list }) => {
      const id = await requireConnection(deps, orgId, idOf(params));
      const all = await listTokens(deps.database.query, { orgId, id });
      return memoryPage(list, all, { fields: tokenFields, record: tokenRecord });
    },
  );
  createRoute(
    tokens,
    "/api/v1/organisations/:org/connections/:id/tokens",
    {
      ...{ operationId: "apiCreateConnectionToken", summary: "Create a token: ten at most" },
      ...{
        description:
          "`signet:users:write` and `signet:groups:write` too: the token makes, changes and ends both.",
        errors: [403],
      },
      ...{ body: newToken, created: createdTokenSchema, example: { label: "Entra ID" } },
    },
    async (inside, { caller, orgId, params, body }) => {
      const id = await requireConnection(inside, orgId, idOf(params));
      for (const scope of scopesOfDirectoryToken) requireHeld(caller, scope);
      const { label = "", expiresAt = null } = body;
      const at = expiresAt === null ? null : readWireTime(expiresAt);
      if (at === undefined) throw invalid([{ path: "/expiresAt", message: "is no date and time" }]);
      const made = await createToken(inside, { ...actOf(caller), id, label, expiresAt: at });
      if (!made) throw notFound();
      const { token, ...row } = made;
      return { row, members: { token }, shownOnce: ["token"] };
    },
  );
  deleteRoute(
    tokens,
    "/api/v1/organisations/:org/connections/:id/tokens/:tokenId",
    { operationId: "apiDeleteConnectionToken", summary: "Revoke a token: it ends at once" },
    async (inside, { caller, orgId, params, id: tokenId, check }) => {
      const id = idOf(params);
      const all = await listTokens(inside.database.query, { orgId, id });
      const token = all.find((one) => one.id === tokenId);
      if (!token) return false;
      await check(token);
      return revokeToken(inside, { ...actOf(caller), id, tokenId });
    },
  );
}

export function apiConnectionCallsRoutes(api: ApiScope, deps: ApiDeps): void {
  const calls: ApiResource<ConnectionCall> = {
    ...{ api, deps, tag, one: "call", many: "calls", schema: callSchema, record: callRecord },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
  };
  listRoute(
    calls,
    "/api/v1/organisations/:org/connections/:id/calls",
    {
      ...{
        operationId: "apiListConnectionCalls",
        summary: "List the last calls of a connection, newest first",
      },
      ...{ fields: callFields, description: `The last ${MAX_CALLS} are kept, without what they carried.` },
    },
    async ({ orgId, params, list }) => {
      const id = await requireConnection(deps, orgId, idOf(params));
      const all = await listCalls(deps.database.query, { orgId, id }, { limit: MAX_CALLS });
      return memoryPage(list, all, { fields: callFields, record: callRecord });
    },
  );
}

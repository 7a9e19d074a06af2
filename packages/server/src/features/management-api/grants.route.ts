/** Grants: what users let applications do. Deleting one ends its refresh token and access tokens. */
import Type from "typebox";
import { findGrant, listGrants } from "../../core/tokens/grants.store.ts";
import { revokeGrant } from "../../core/tokens/grants.ts";
import { bindingOf, type IssuedGrant } from "../../core/tokens/issued-grant.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { pageQuery } from "../../http/api/paging.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";
import type { ManagementDeps } from "./management.ts";
import { deleteRoute, getRoute, listRoute, type ResourceRoutes } from "./resource-routes.ts";

const filterQuery = strictObject({
  ...pageQuery,
  clientId: Type.Optional(Type.String({ format: "uuid" })),
  userId: Type.Optional(Type.String({ format: "uuid" })),
});

const uuid = () => Type.String({ format: "uuid" });
const time = () => Type.String({ format: "date-time" });

const grantSchema = Type.Object(
  {
    id: uuid(),
    clientId: uuid(),
    userId: uuid(),
    scopes: Type.Array(Type.String()),
    resources: Type.Array(Type.String(), { description: "RFC 8707" }),
    authorizationDetails: Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: "RFC 9396" }),
    binding: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
      description: "`jkt` (DPoP), `x5t#S256` (certificate), or null",
    }),
    enabled: Type.Boolean({ description: "Revoked grants are not listed: true" }),
    createdAt: time(),
    lastUsedAt: Type.String({
      format: "date-time",
      description: "Of the last refresh, or of the first tokens",
    }),
    expiresAt: time(),
  },
  { title: "Grant" },
);

const grantRecord = (grant: IssuedGrant) => ({
  id: grant.id,
  clientId: grant.applicationId,
  userId: grant.userId,
  scopes: grant.scopes,
  resources: grant.resources,
  authorizationDetails: grant.authorizationDetails,
  binding: bindingOf(grant),
  enabled: true,
  createdAt: wireTime(grant.createdAt),
  lastUsedAt: wireTime(grant.lastUsedAt),
  expiresAt: wireTime(grant.expiresAt),
});

export function grantsRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const grants: ResourceRoutes<IssuedGrant> = {
    ...{ api, deps, tag: "Grants", one: "grant", many: "grants" },
    schema: grantSchema,
    record: grantRecord,
    toAnswer: (error) => {
      throw error;
    },
  };
  listRoute(
    grants,
    "/legacy/api/oauth/grants",
    {
      operationId: "listGrants",
      summary: "List grants that have not ended, oldest first",
      query: filterQuery,
    },
    (orgId, { limit, after }, { clientId, userId }) =>
      listGrants(db, orgId, {
        ...{ limit: limit + 1, after, now: deps.clock() },
        applicationId: clientId?.toLowerCase(),
        userId: userId?.toLowerCase(),
      }),
  );
  getRoute(
    grants,
    "/legacy/api/oauth/grants/:id",
    { operationId: "getGrant", summary: "Get a grant" },
    (orgId, id) => findGrant(db, { orgId, id, now: deps.clock() }),
  );
  deleteRoute(
    grants,
    "/legacy/api/oauth/grants/:id",
    {
      operationId: "revokeGrant",
      summary: "Revoke a grant: its refresh token and access tokens end",
      done: "Revoked",
    },
    (key) => revokeGrant(deps, key),
  );
}

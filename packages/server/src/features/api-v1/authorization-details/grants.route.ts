/** /api/v1/organisations/{org}/grants: what users let applications do, while tokens of it are good. */
import Type from "typebox";
import { findGrant } from "../../../core/tokens/grants.store.ts";
import { revokeGrant } from "../../../core/tokens/grants.ts";
import { bindingOf, type IssuedGrant } from "../../../core/tokens/issued-grant.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { wireTime } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { issuedGrantFields, listGrantPage } from "./issued-grants-list.store.ts";

const uuid = () => Type.String({ format: "uuid" });
const time = (description?: string) =>
  Type.String({ format: "date-time", ...(description === undefined ? {} : { description }) });

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
    lastUsedAt: time("Of the last refresh, or of the first tokens"),
    expiresAt: time(),
    updatedAt: time(),
  },
  { title: "ApiIssuedGrant" },
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
  updatedAt: wireTime(grant.lastUsedAt),
});

export function apiGrantsRoutes(api: ApiScope, deps: ApiDeps): void {
  const grants: ApiResource<IssuedGrant> = {
    ...{ api, deps, tag: "API v1: authorization details", one: "grant", many: "grants that have not ended" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: grantSchema,
    record: grantRecord,
  };
  listRoute(
    grants,
    "/api/v1/organisations/:org/grants",
    { operationId: "apiListGrants", summary: "List grants that have not ended", fields: issuedGrantFields },
    ({ orgId, list }) => listGrantPage(deps.database.query, { orgId, now: deps.clock() }, list),
  );
  getRoute(
    grants,
    "/api/v1/organisations/:org/grants/:id",
    { operationId: "apiReadGrant", summary: "Get a grant" },
    ({ orgId, id }) => findGrant(deps.database.query, { orgId, id, now: deps.clock() }),
  );
  deleteRoute(
    grants,
    "/api/v1/organisations/:org/grants/:id",
    {
      operationId: "apiRevokeGrant",
      summary: "Revoke a grant: its refresh token and access tokens end",
      done: "Revoked",
    },
    async (inside, { caller, orgId, id, check }) => {
      const grant = await findGrant(inside.database.query, { orgId, id, now: inside.clock() });
      if (!grant) return false;
      await check(grant);
      return revokeGrant(inside, { ...actOf(caller), id });
    },
  );
}

/** Pre-authorizations: scopes that a client has without asking the user. */
import Type from "typebox";
import type { Consent } from "../../core/consents/consent.ts";
import { findPreauthorization, listPreauthorizations } from "../../core/consents/consents.store.ts";
import { createPreauthorization, deletePreauthorization } from "../../core/consents/consents.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { pageQuery } from "../../http/api/paging.ts";
import { strictObject } from "../../http/api/schemas.ts";
import {
  grantedClient,
  grantSchema,
  preauthorizationRecord,
  preauthorizationSchema,
  toGrantAnswer,
} from "./consent-record.ts";
import { by, type ManagementDeps } from "./management.ts";
import { createRoute, deleteRoute, getRoute, listRoute, type ResourceRoutes } from "./resource-routes.ts";

const filterQuery = strictObject({ ...pageQuery, clientId: Type.Optional(Type.String({ format: "uuid" })) });

export function preauthorizationsRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const preauthorizations: ResourceRoutes<Consent> = {
    api,
    deps,
    tag: "Pre-authorizations",
    one: "pre-authorization",
    many: "pre-authorizations",
    schema: preauthorizationSchema,
    record: preauthorizationRecord,
    toAnswer: toGrantAnswer,
  };
  listRoute(
    preauthorizations,
    "/legacy/api/oauth/preauthorizations",
    {
      operationId: "listPreauthorizations",
      summary: "List pre-authorizations, oldest first",
      query: filterQuery,
    },
    (orgId, { limit, after }, { clientId }) =>
      listPreauthorizations(db, orgId, { limit: limit + 1, after, applicationId: clientId?.toLowerCase() }),
  );
  getRoute(
    preauthorizations,
    "/legacy/api/oauth/preauthorizations/:id",
    { operationId: "getPreauthorization", summary: "Get a pre-authorization" },
    (orgId, id) => findPreauthorization(db, { orgId, id }),
  );
  createRoute(
    preauthorizations,
    "/legacy/api/oauth/preauthorizations",
    {
      operationId: "createPreauthorization",
      errors: [404],
      summary: "Pre-authorize a client for scopes: its users skip the consent page",
      body: grantSchema,
      example: { clientId: "01998d70-0000-7000-8000-000000000000", scopes: ["openid", "email"] },
    },
    async (inside, { caller, body }) => {
      const application = await grantedClient(inside, caller.organisation.id, body.clientId);
      const { scopes } = body;
      return { row: await createPreauthorization(inside, { application, scopes, ...by(caller) }) };
    },
  );
  deleteRoute(
    preauthorizations,
    "/legacy/api/oauth/preauthorizations/:id",
    {
      operationId: "deletePreauthorization",
      summary: "Delete a pre-authorization and revoke the refresh tokens based on it immediately",
    },
    (key) => deletePreauthorization(deps, key),
  );
}

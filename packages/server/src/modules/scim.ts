/** SCIM 2.0: an organisation's own directory provisions its users and groups. */
import { SCIM_TYPE, scimErrorHandler } from "../features/scim/answers.ts";
import { MAX_BULK_BYTES } from "../features/scim/bulk-limits.ts";
import { scimGroups } from "../features/scim/groups.ts";
import { scimRoutes } from "../features/scim/scim.route.ts";
import { scimUsers } from "../features/scim/users.ts";
import { acceptJson, addJson } from "../http/api/json-body.ts";
import type { Module } from "./app-context.ts";

export const scim: Module = (scope, { service, errors }) => {
  acceptJson(scope, MAX_BULK_BYTES);
  addJson(scope, { bodyLimit: MAX_BULK_BYTES, contentType: SCIM_TYPE });
  scope.setErrorHandler(scimErrorHandler(errors));
  const { baseUrl, rateLimits } = service.config;
  const deps = { ...service, baseUrl, rateLimits, errors };
  scimRoutes(scope, { ...deps, users: scimUsers(deps), groups: scimGroups(deps) });
};

/** SCIM 2.0: an organisation's own directory provisions its users and groups. */
import { SCIM_TYPE, scimErrorHandler } from "../features/scim/answers.ts";
import { scimGroups } from "../features/scim/groups.ts";
import { scimRoutes } from "../features/scim/scim.route.ts";
import { scimUsers } from "../features/scim/users.ts";
import { acceptJson, addJson } from "../http/api/json-body.ts";
import type { Module } from "./app-context.ts";

export const scim: Module = (scope, { service, errors }) => {
  acceptJson(scope);
  addJson(scope, { contentType: SCIM_TYPE });
  scope.setErrorHandler(scimErrorHandler(errors));
  const { baseUrl, rateLimits } = service.config;
  const deps = { ...service, baseUrl, rateLimits, errors };
  scimRoutes(scope, { ...deps, users: scimUsers(deps), groups: scimGroups(deps) });
};

/** Pools and agents by API, for administrators with a signature or in a browser. */
import cookie from "@fastify/cookie";
import { adminRoutes } from "../features/sovereign/admin-api/admin.route.ts";
import type { ApiScope } from "../http/api/api-route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import { administratorAuthenticator } from "./administrator-authenticator.ts";
import type { Module } from "./app-context.ts";

export const sovereignAdmin: Module = async (scope, app) => {
  const { service, errors, operations } = app;
  await scope.register(cookie);
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
  // The plain signature covers the body alone: without one it would fit every call.
  const door = administratorAuthenticator(app, { isStrictOnly: ({ method }) => method === "DELETE" });
  const api: ApiScope = { app: scope, describe: (operation) => operations.push(operation) };
  adminRoutes(api, { ...service, baseUrl: service.config.baseUrl, door });
};

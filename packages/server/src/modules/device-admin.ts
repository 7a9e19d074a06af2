/** Devices: their administration, with pages and JSON at the same addresses, and what devices call themselves. */
import cookie from "@fastify/cookie";
import { deviceRoute } from "../features/device-identity/admin/device.route.ts";
import { devicePolicyRoutes } from "../features/device-identity/admin/device-policy.route.ts";
import { manageRoutes } from "../features/device-identity/admin/manage.route.ts";
import type { ManageDeps } from "../features/device-identity/admin/page-and-api.ts";
import { revokeRoutes } from "../features/device-identity/admin/revoke.route.ts";
import { caRoutes } from "../features/device-identity/certificate-authority/ca.route.ts";
import { deviceRoutes } from "../features/device-identity/enrol/enrol.route.ts";
import type { ApiScope } from "../http/api/api-route.ts";
import { acceptJson, addJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import { acceptForms } from "../http/form-body.ts";
import { markChanges } from "../page-kit/old-reads.ts";
import { consoleDeps } from "./admin-console.ts";
import { administratorAuthenticator } from "./administrator-authenticator.ts";
import type { Module } from "./app-context.ts";

export const deviceAdmin: Module = async (scope, app) => {
  await scope.register(cookie);
  acceptForms(scope);
  addJson(scope);
  markChanges(scope, app.service.database, app.service.config.baseUrl);
  const deps: ManageDeps = {
    ...consoleDeps(app),
    programs: {
      authenticator: administratorAuthenticator(app),
      showError: codedErrorHandler(app.errors),
    },
    describe: (operation) => app.operations.push(operation),
  };
  manageRoutes(scope, deps);
  deviceRoute(scope, deps);
  revokeRoutes(scope, deps);
  devicePolicyRoutes(scope, deps);
};

/** A CSR of 16 KiB with the members around it. */
const BODY_LIMIT = 32 * 1024;

export const deviceEnrolment: Module = (scope, { service, errors, operations }) => {
  scope.register(async (ca) => caRoutes(ca, service));
  acceptJson(scope, BODY_LIMIT);
  scope.setErrorHandler(codedErrorHandler(errors));
  const api: ApiScope = { app: scope, describe: (operation) => operations.push(operation) };
  const deps = { ...service, rateLimits: service.config.rateLimits };
  deviceRoutes(api, deps);
};

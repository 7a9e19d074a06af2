/** Device administration: pages for browsers and JSON for programs, at the same addresses. */
import cookie from "@fastify/cookie";
import { devicePolicyRoutes } from "../features/device-identity/admin/device-policy.route.ts";
import { manageRoutes } from "../features/device-identity/admin/manage.route.ts";
import type { ManageDeps } from "../features/device-identity/admin/manage-visit.ts";
import { revokeRoutes } from "../features/device-identity/admin/revoke.route.ts";
import { addJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import { acceptForms } from "../http/form-body.ts";
import { consoleDeps } from "./admin-console.ts";
import { administratorAuthenticator } from "./administrator-authenticator.ts";
import type { Module } from "./app-context.ts";

export const deviceAdmin: Module = async (scope, app) => {
  await scope.register(cookie);
  acceptForms(scope);
  addJson(scope);
  const deps: ManageDeps = {
    ...consoleDeps(app),
    programs: {
      authenticator: administratorAuthenticator(app, { isStrictOnly: () => false }),
      strictAuthenticator: administratorAuthenticator(app, { isStrictOnly: () => true }),
      showError: codedErrorHandler(app.errors),
    },
    describe: (operation) => app.operations.push(operation),
  };
  manageRoutes(scope, deps);
  revokeRoutes(scope, deps);
  devicePolicyRoutes(scope, deps);
};

/** The wiring of device administration: administrators come in a browser, or with a signature. */
import type { FastifyInstance } from "fastify";
import { devicePolicyRoutes } from "../features/device-identity/admin/device-policy.route.ts";
import { manageRoutes } from "../features/device-identity/admin/manage.route.ts";
import type { ManageDeps } from "../features/device-identity/admin/manage-visit.ts";
import { revokeRoute } from "../features/device-identity/admin/revoke.route.ts";
import { withdrawRoute } from "../features/device-identity/admin/withdraw.route.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { administratorAccessDoor } from "../http/api/administrator-authenticator.ts";
import type { Operation } from "../http/api/api-route.ts";
import { addJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import type { ErrorHandlerDeps } from "../http/error-handlers.ts";
import { acceptForms } from "../http/form-body.ts";
import { consoleDeps } from "./admin-console.ts";
import { administratorAccess } from "./administrator-access.ts";
import type { Service } from "./open-service.ts";

/** In a scope that knows cookies. */
export function mountDeviceAdmin(
  scope: FastifyInstance,
  service: Service,
  browser: BrowserDeps,
  errors: ErrorHandlerDeps,
): Operation[] {
  const operations: Operation[] = [];
  acceptForms(scope);
  addJson(scope);
  const access = administratorAccess(service, browser);
  const doorFor = (isStrict: boolean) => administratorAccessDoor(access, { isStrictOnly: () => isStrict });
  const deps: ManageDeps = {
    ...consoleDeps(service, browser, errors),
    programs: { door: doorFor(false), strictDoor: doorFor(true), showError: codedErrorHandler(errors) },
    describe: (operation) => operations.push(operation),
  };
  manageRoutes(scope, deps);
  revokeRoute(scope, deps);
  withdrawRoute(scope, deps);
  devicePolicyRoutes(scope, deps);
  return operations;
}

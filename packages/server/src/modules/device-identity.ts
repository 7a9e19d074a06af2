/** The wiring of device identity: what it needs of the rest. */
import type { FastifyInstance } from "fastify";
import { caRoutes } from "../features/device-identity/certificate-authority/ca.route.ts";
import { enrollRoute } from "../features/device-identity/enroll/enroll.route.ts";
import { renewRoute } from "../features/device-identity/enroll/renew.route.ts";
import { tpmEnrollRoutes } from "../features/device-identity/tpm/tpm-enroll.route.ts";
import type { Operation } from "../http/api/api-route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import type { ErrorHandlerDeps } from "../http/error-handlers.ts";
import type { Service } from "./open-service.ts";

/** A request of 16 KiB with what goes along. */
const BODY_LIMIT = 32 * 1024;

/** What devices themselves call: no cookies, JSON. */
export function mountDevices(
  scope: FastifyInstance,
  service: Service,
  errors: ErrorHandlerDeps,
): Operation[] {
  const operations: Operation[] = [];
  scope.register(async (ca) => caRoutes(ca, service));
  acceptJson(scope, BODY_LIMIT);
  scope.setErrorHandler(codedErrorHandler(errors));
  const api = { app: scope, describe: (operation: Operation) => operations.push(operation) };
  const deps = { ...service, rateLimits: service.config.rateLimits };
  enrollRoute(api, deps);
  tpmEnrollRoutes(api, deps);
  renewRoute(api, deps);
  return operations;
}

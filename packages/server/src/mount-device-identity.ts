/** The wiring of device identity: what it needs of the rest. */
import type { FastifyInstance } from "fastify";
import { acceptJson } from "./http/api/json-body.ts";
import { codedErrorHandler } from "./http/coded-error.ts";
import type { ErrorHandlerDeps } from "./http/error-handlers.ts";
import type { Service } from "./open-service.ts";

/** What devices themselves call: no cookies, JSON. */
export function mountDevices(scope: FastifyInstance, _service: Service, errors: ErrorHandlerDeps): void {
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
}

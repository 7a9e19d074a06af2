/** What devices call: enrolment, renewal, and the documents of the organisation's CA. JSON, no cookies. */
import { caRoutes } from "../features/device-identity/certificate-authority/ca.route.ts";
import { deviceRoutes } from "../features/device-identity/enrol/enrol.route.ts";
import type { ApiScope } from "../http/api/api-route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import type { Module } from "./app-context.ts";

/** A CSR of 16 KiB with the members around it. */
const BODY_LIMIT = 32 * 1024;

export const deviceEnrolment: Module = (scope, { service, errors, operations }) => {
  scope.register(async (ca) => caRoutes(ca, service));
  acceptJson(scope, BODY_LIMIT);
  scope.setErrorHandler(codedErrorHandler(errors));
  const api: ApiScope = { app: scope, describe: (operation) => operations.push(operation) };
  deviceRoutes(api, { ...service, rateLimits: service.config.rateLimits });
};

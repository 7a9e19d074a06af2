/** Clients that register themselves (RFC 7591, RFC 7592): JSON in and out, errors as OAuth has them, for every origin. */
import { clientConfigurationRoutes } from "../features/oauth/registration/client-configuration.route.ts";
import { registerRoute } from "../features/oauth/registration/register.route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { openCors } from "../http/cors.ts";
import { oauthErrorHandler } from "../http/error-handlers.ts";
import type { Module } from "./app-context.ts";
import { registrationTokenKeys } from "./open-service.ts";

/** More than any client has to say of itself: keys with certificates, a software statement. */
const MAX_BYTES = 64 * 1_024;

export const clientRegistration: Module = (scope, { service, errors }) => {
  const { baseUrl, rateLimits } = service.config;
  const deps = {
    ...service,
    ...{ baseUrl, rateLimits },
    registrationTokenKeys: registrationTokenKeys(service.masterKeys),
  };
  acceptJson(scope, MAX_BYTES);
  scope.setErrorHandler(oauthErrorHandler(errors));
  openCors(scope, {
    "/oauth/:org/register": "POST",
    "/oauth/:org/register/:clientId": "GET, PUT, DELETE",
  });
  registerRoute(scope, deps);
  clientConfigurationRoutes(scope, deps);
};

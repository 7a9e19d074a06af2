/** The JSON APIs: management API, legacy API, and the validation of session keys. */
import { validateRoute } from "../features/federation/validate.route.ts";
import { limitAnswer } from "../features/legacy-api/legacy-deps.ts";
import { legacyRoutes } from "../features/legacy-api/legacy-routes.ts";
import { sessionKeysRoutes } from "../features/legacy-api/session-keys/session-keys.route.ts";
import { managementRoutes } from "../features/management-api/management-routes.ts";
import {
  administratorAccountAuthenticator,
  systemAccountAuthenticator,
} from "../features/system-accounts/hmac-authentication.ts";
import { withIdempotency } from "../features/system-accounts/idempotency.ts";
import { sessionKeyAuthenticator } from "../features/system-accounts/session-key-authentication.ts";
import { usersGetRoute } from "../features/system-accounts/users-get.route.ts";
import type { ApiScope } from "../http/api/api-route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { problemErrorAnswer, problemErrorHandler } from "../http/error-handlers.ts";
import type { Module } from "./app-context.ts";
import { errorPageRenderer } from "./error-page.ts";

export const jsonApis: Module = (scope, { service, errors, operations, calls }) => {
  acceptJson(scope);
  const sendProblem = problemErrorHandler(errors);
  scope.setErrorHandler<Error>((error, request, reply) => sendProblem(limitAnswer(error), request, reply));
  const api: ApiScope = {
    app: scope,
    describe: (operation) => operations.push(operation),
    direct: {
      add: calls.add,
      errorAnswer: (error, requestId) => problemErrorAnswer(errors, limitAnswer(error as Error), requestId),
    },
  };
  const { baseUrl, rateLimits } = service.config;
  const deps = { ...service, baseUrl, rateLimits };
  const keyAuthenticator = sessionKeyAuthenticator(service);
  managementRoutes(api, {
    ...deps,
    authenticator: withIdempotency(service, administratorAccountAuthenticator(service)),
  });
  usersGetRoute(api, { ...deps, authenticator: systemAccountAuthenticator(service) });
  legacyRoutes(api, {
    ...deps,
    accountAuthenticator: systemAccountAuthenticator(service),
    keyAuthenticator,
    showError: errorPageRenderer(service),
  });
  validateRoute(api, { keyAuthenticator });
  sessionKeysRoutes(api, { ...deps, keyAuthenticator });
};

/** Sovereign signing: the API of agents, the wait pages, and the administration of pools and agents. */
import cookie from "@fastify/cookie";
import { browserSessionPort } from "../features/oauth/authorize/browser-session-port.ts";
import { continueAuthorization, flowUiLocales } from "../features/oauth/authorize/request/continue-signed.ts";
import { adminRoutes } from "../features/sovereign/admin-api/admin.route.ts";
import { agentRoutes } from "../features/sovereign/agent-api/agent.route.ts";
import { thresholdRoutes } from "../features/sovereign/threshold/threshold.route.ts";
import { respondRoute } from "../features/sovereign/wait/respond.route.ts";
import { waitRoutes } from "../features/sovereign/wait/wait.route.ts";
import type { WaitDeps } from "../features/sovereign/wait/waiting-request.ts";
import type { ApiScope } from "../http/api/api-route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import { pageErrorHandler } from "../http/error-handlers.ts";
import { administratorAuthenticator } from "./administrator-authenticator.ts";
import type { Module } from "./app-context.ts";
import { errorPageRenderer } from "./error-page.ts";

export const agentApi: Module = (scope, { service, sovereign: { signing }, errors }) => {
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
  const { rateLimits } = service.config;
  const deps = { ...service, rateLimits, clock: signing.clock, signing };
  agentRoutes(scope, deps);
  thresholdRoutes(scope, { ...deps, admin: { ...service, baseUrl: service.config.baseUrl } });
};

export const waitPages: Module = (scope, { service, sovereign: { signing }, browser, errors }) => {
  const deps: WaitDeps = {
    ...browser,
    signing,
    workers: service.config.workers,
    session: browserSessionPort(browser),
    uiLocales: (visit, continuation) => flowUiLocales(browser, visit, continuation),
    continueAuthorization: (visit, waited) => continueAuthorization(browser, visit, waited),
    errorHandlers: {
      program: codedErrorHandler(errors),
      page: pageErrorHandler(errors, errorPageRenderer(service)),
    },
  };
  waitRoutes(scope, deps);
  respondRoute(scope, deps);
};

export const sovereignAdmin: Module = async (scope, app) => {
  const { service, errors, operations } = app;
  await scope.register(cookie);
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
  const authenticator = administratorAuthenticator(app);
  const api: ApiScope = { app: scope, describe: (operation) => operations.push(operation) };
  adminRoutes(api, { ...service, baseUrl: service.config.baseUrl, authenticator });
};

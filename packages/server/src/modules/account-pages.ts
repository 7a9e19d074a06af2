/** The pages of the signed-in user: profile, security, sessions, consents. */
import { accountRoutes } from "../features/account-ui/account-routes.ts";
import { consentsRoutes } from "../features/account-ui/consents/consents.route.ts";
import { browserSessionPort } from "../features/oauth/authorize/browser-session-port.ts";
import { authenticateBearer } from "../features/oauth/bearer-authentication.ts";
import { oauthErrorHandler, pageErrorHandler } from "../http/error-handlers.ts";
import type { Module } from "./app-context.ts";
import { errorPageRenderer } from "./error-page.ts";

export const accountPages: Module = (scope, { service, browser, errors }) => {
  const deps = {
    ...browser,
    ...browser.secondFactors,
    passwords: service.passwords,
    browserSession: browserSessionPort(browser),
  };
  accountRoutes(scope, deps);
  consentsRoutes(scope, {
    ...deps,
    authenticateBearer: (organisation, request) => authenticateBearer(service, organisation, request),
    errorHandlers: {
      program: oauthErrorHandler(errors),
      page: pageErrorHandler(errors, errorPageRenderer(service)),
    },
  });
};

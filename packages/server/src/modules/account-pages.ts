/** The pages of the signed-in user: profile, security, sessions, consents. */
import { confirmIdentityRoute } from "../features/account-ui/account-form.ts";
import { consentsRoutes } from "../features/account-ui/consents/consents.route.ts";
import { activityRoute } from "../features/account-ui/own-data/activity.route.ts";
import { dataRoutes } from "../features/account-ui/own-data/data.route.ts";
import { deletionRoutes } from "../features/account-ui/own-data/deletion.route.ts";
import { addressRoute } from "../features/account-ui/profile/address.route.ts";
import { profileRoute } from "../features/account-ui/profile/profile.route.ts";
import { authenticatorRoutes } from "../features/account-ui/security/authenticator.route.ts";
import { passkeyRoutes } from "../features/account-ui/security/passkeys.route.ts";
import { passwordRoute } from "../features/account-ui/security/password.route.ts";
import { recoveryCodesRoute } from "../features/account-ui/security/recovery-codes.route.ts";
import { securityRoute } from "../features/account-ui/security/security.route.ts";
import { trustedBrowsersRoute } from "../features/account-ui/security/trusted-browsers.route.ts";
import { sessionsRoutes } from "../features/account-ui/sessions/sessions.route.ts";
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
  profileRoute(scope, deps);
  addressRoute(scope, deps);
  passwordRoute(scope, deps);
  securityRoute(scope, deps);
  authenticatorRoutes(scope, deps);
  passkeyRoutes(scope, deps);
  recoveryCodesRoute(scope, deps);
  trustedBrowsersRoute(scope, deps);
  sessionsRoutes(scope, deps);
  activityRoute(scope, deps);
  dataRoutes(scope, deps);
  deletionRoutes(scope, deps);
  confirmIdentityRoute(scope, deps);
  consentsRoutes(scope, {
    ...deps,
    authenticateBearer: (organisation, request) => authenticateBearer(service, organisation, request),
    errorHandlers: {
      program: oauthErrorHandler(errors),
      page: pageErrorHandler(errors, errorPageRenderer(service)),
    },
  });
};

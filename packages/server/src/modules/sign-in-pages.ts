/** The pages of the sign-in: authorization, login, second factor, consent, sign-out, device codes, legacy federation. */
import { federationLoginRoutes } from "../features/federation/login.route.ts";
import { browserSessionPort } from "../features/oauth/authorize/browser-session-port.ts";
import { consentRoute } from "../features/oauth/authorize/consent/consent.route.ts";
import { twoFactorRoute } from "../features/oauth/authorize/factors/two-factor.route.ts";
import { authorizeRoutes } from "../features/oauth/authorize/request/authorize.route.ts";
import { loginRoute } from "../features/oauth/authorize/sign-in/login.route.ts";
import { verifyRoutes } from "../features/oauth/device-grant/verify.route.ts";
import { endSessionRoutes } from "../features/oauth/end-session/end-session.route.ts";
import { actionPageRoutes } from "../features/oauth/recovery/action.route.ts";
import { newPasswordRoutes } from "../features/oauth/recovery/new-password.route.ts";
import { recoveryRoute } from "../features/oauth/recovery/recovery.route.ts";
import { verifyEmailRoutes } from "../features/oauth/recovery/verify-email.route.ts";
import type { Module } from "./app-context.ts";

export const signInPages: Module = (scope, { service, browser }) => {
  authorizeRoutes(scope, browser);
  loginRoute(scope, { ...browser, passwords: service.passwords });
  twoFactorRoute(scope, browser);
  consentRoute(scope, browser);
  endSessionRoutes(scope, browser);
  verifyRoutes(scope, browser);
  federationLoginRoutes(scope, { ...service, browserSession: browserSessionPort(browser) });
};

/** What the links in mails lead to, and the ways to a forgotten password. */
export const recoveryPages: Module = (scope, { service, browser }) => {
  const deps = { ...browser, passwords: service.passwords };
  recoveryRoute(scope, browser);
  newPasswordRoutes(scope, deps);
  actionPageRoutes(scope, deps);
  verifyEmailRoutes(scope, browser);
};

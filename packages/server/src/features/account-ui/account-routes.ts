/** Registers the account pages, except user/consents, which also serves API clients. */
import type { FastifyInstance } from "fastify";
import { confirmIdentityRoute } from "./account-form.ts";
import type { AccountDeps } from "./account-page.ts";
import { homeRoute } from "./home/home.route.ts";
import { activityRoute } from "./own-data/activity.route.ts";
import { dataRoutes } from "./own-data/data.route.ts";
import { deletionRoutes } from "./own-data/deletion.route.ts";
import { addressRoute } from "./profile/address.route.ts";
import { profileRoute } from "./profile/profile.route.ts";
import { authenticatorRoutes } from "./security/authenticator.route.ts";
import { accountConnectionRoute } from "./security/connection.route.ts";
import { passkeyRoutes } from "./security/passkeys.route.ts";
import { passwordRoute } from "./security/password.route.ts";
import { recoveryCodesRoute } from "./security/recovery-codes.route.ts";
import { securityRoute } from "./security/security.route.ts";
import { trustedBrowsersRoute } from "./security/trusted-browsers.route.ts";
import { sessionsRoutes } from "./sessions/sessions.route.ts";

export function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  homeRoute(app, deps);
  profileRoute(app, deps);
  addressRoute(app, deps);
  passwordRoute(app, deps);
  securityRoute(app, deps);
  authenticatorRoutes(app, deps);
  passkeyRoutes(app, deps);
  recoveryCodesRoute(app, deps);
  trustedBrowsersRoute(app, deps);
  accountConnectionRoute(app, deps);
  sessionsRoutes(app, deps);
  activityRoute(app, deps);
  dataRoutes(app, deps);
  deletionRoutes(app, deps);
  confirmIdentityRoute(app, deps);
}

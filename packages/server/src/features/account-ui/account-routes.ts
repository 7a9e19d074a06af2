/** The pages on which users look after their own account. */
import type { FastifyInstance } from "fastify";
import type { AccountDeps } from "./account-page.ts";
import { activityRoute } from "./activity.route.ts";
import { addressRoute } from "./address.route.ts";
import { authenticatorRoutes } from "./authenticator.route.ts";
import { confirmIdentityRoute } from "./confirm-identity.route.ts";
import { dataRoutes } from "./data.route.ts";
import { deletionRoutes } from "./deletion.route.ts";
import { passkeyRoutes } from "./passkeys.route.ts";
import { passwordRoute } from "./password.route.ts";
import { profileRoute } from "./profile.route.ts";
import { recoveryCodesRoute } from "./recovery-codes.route.ts";
import { rememberedBrowsersRoute } from "./remembered-browsers.route.ts";
import { securityRoute } from "./security.route.ts";
import { sessionsRoutes } from "./sessions.route.ts";

export function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  profileRoute(app, deps);
  addressRoute(app, deps);
  passwordRoute(app, deps);
  securityRoute(app, deps);
  authenticatorRoutes(app, deps);
  passkeyRoutes(app, deps);
  recoveryCodesRoute(app, deps);
  rememberedBrowsersRoute(app, deps);
  sessionsRoutes(app, deps);
  activityRoute(app, deps);
  dataRoutes(app, deps);
  deletionRoutes(app, deps);
  confirmIdentityRoute(app, deps);
}

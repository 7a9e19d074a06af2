/** The pages on which users look after their own account. */
import type { FastifyInstance } from "fastify";
import type { AccountDeps } from "./account-page.ts";
import { authenticatorRoutes } from "./authenticator.route.ts";
import { passkeyRoutes } from "./passkeys.route.ts";
import { recoveryCodesRoute } from "./recovery-codes.route.ts";
import { rememberedBrowsersRoute } from "./remembered-browsers.route.ts";
import { securityRoute } from "./security.route.ts";
import { sessionsRoutes } from "./sessions.route.ts";

export function accountRoutes(app: FastifyInstance, deps: AccountDeps): void {
  securityRoute(app, deps);
  authenticatorRoutes(app, deps);
  passkeyRoutes(app, deps);
  recoveryCodesRoute(app, deps);
  rememberedBrowsersRoute(app, deps);
  sessionsRoutes(app, deps);
}

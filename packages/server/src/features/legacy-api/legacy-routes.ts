/** Every route of the legacy API but those of session keys. Paths keep the specification's capitals, and match exactly. */
import type { ApiScope } from "../../http/api/api-route.ts";
import { actionRoutes } from "./actions/actions.route.ts";
import { applicationListRoutes } from "./application-lists.route.ts";
import type { LegacyDeps } from "./legacy-deps.ts";
import { loginRoute } from "./login.route.ts";
import { logoutRoute } from "./logout.route.ts";
import { passwordResetRoute } from "./password-reset.route.ts";
import { profileRoutes } from "./profile.route.ts";
import { registerRoutes } from "./register.route.ts";
import { roamingRoute } from "./roaming.route.ts";
import { serviceSessionsRoute } from "./session-keys/service-sessions.route.ts";
import { usernameRoute } from "./username.route.ts";
import { verifyIdentityRoute } from "./verify-identity.route.ts";

export function legacyRoutes(api: ApiScope, deps: LegacyDeps): void {
  loginRoute(api, deps);
  logoutRoute(api, deps);
  registerRoutes(api, deps);
  roamingRoute(api, deps);
  passwordResetRoute(api, deps);
  actionRoutes(api, deps);
  verifyIdentityRoute(api, deps);
  profileRoutes(api, deps);
  serviceSessionsRoute(api, deps);
  usernameRoute(api, deps);
  applicationListRoutes(api, deps);
}

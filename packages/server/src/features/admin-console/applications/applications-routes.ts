/** Registers the pages of applications. */
import type { FastifyInstance } from "fastify";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { checksRoute } from "./checks.route.ts";
import { endRoutes } from "./end.route.ts";
import { applicationListRoute } from "./list.route.ts";
import { newApplicationRoute } from "./new.route.ts";
import { applicationRecordRoute } from "./record.route.ts";
import { secretsRoutes } from "./secrets.route.ts";
import { settingsRoute } from "./settings.route.ts";
import { applicationUsersRoutes } from "./users.route.ts";

export function applicationsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  applicationListRoute(app, deps);
  newApplicationRoute(app, deps);
  applicationRecordRoute(app, deps);
  settingsRoute(app, deps);
  secretsRoutes(app, deps);
  applicationUsersRoutes(app, deps);
  endRoutes(app, deps);
  checksRoute(app, deps);
}

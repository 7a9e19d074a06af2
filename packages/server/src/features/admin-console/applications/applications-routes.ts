/** Registers the pages of applications. */
import type { FastifyInstance } from "fastify";
import type { RolesDeps } from "../roles/role-pages.ts";
import { applicationListRoutes } from "./list.route.ts";
import { newApplicationRoute } from "./new.route.ts";
import { applicationRecordRoutes } from "./record.route.ts";
import { applicationRolesRoute } from "./roles.route.ts";
import { secretsRoutes } from "./secrets.route.ts";
import { settingChecksRoute } from "./setting-choices.route.ts";
import { applicationTabRoutes } from "./tab.route.ts";
import { applicationUsersRoutes } from "./users.route.ts";

export function applicationsRoutes(app: FastifyInstance, deps: RolesDeps): void {
  newApplicationRoute(app, deps);
  applicationTabRoutes(app, deps);
  settingChecksRoute(app, deps);
  secretsRoutes(app, deps);
  applicationUsersRoutes(app, deps);
  applicationRolesRoute(app, deps);
  // Last, for they delete the record: invariants/ submits all forms in this order.
  applicationListRoutes(app, deps);
  applicationRecordRoutes(app, deps);
}

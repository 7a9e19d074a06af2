/** The roles of applications, who has them, and why somebody may. The tab of an application is applications/roles.route.ts. */
import type { FastifyInstance } from "fastify";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { roleAssignmentsRoutes } from "./assignments.route.ts";
import { roleRoutes } from "./role.route.ts";
import type { RolesDeps } from "./role-pages.ts";
import { roleRecord } from "./role-record.ts";
import { whyRoute } from "./why.route.ts";

export function rolesRoutes(app: FastifyInstance, deps: RolesDeps): void {
  whyRoute(app, deps);
  tabbedRecordRoutes(app, deps, roleRecord);
  roleAssignmentsRoutes(app, deps);
  // Last, for they delete the record: invariants/ submits all forms in this order.
  roleRoutes(app, deps);
}

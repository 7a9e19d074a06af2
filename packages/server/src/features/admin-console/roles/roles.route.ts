/** The roles of applications and of the organisation, who has them, and why somebody may. The tab of an application is applications/roles.route.ts. */
import type { FastifyInstance } from "fastify";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { consoleRoute } from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { roleAssignmentsRoutes } from "./assignments.route.ts";
import { roleRoutes } from "./role.route.ts";
import { roleList } from "./role-list.ts";
import type { RolesDeps } from "./role-pages.ts";
import { roleRecord } from "./role-record.ts";
import { whyRoute } from "./why.route.ts";

export function rolesRoutes(app: FastifyInstance, deps: RolesDeps): void {
  whyRoute(app, deps);
  listRoute(app, deps, "/oauth/manage/:org/roles", roleList);
  consoleRoute(app, deps, "/oauth/manage/:org/roles/export", { get: listExport(roleList) });
  tabbedRecordRoutes(app, deps, roleRecord);
  roleAssignmentsRoutes(app, deps);
  // Last, for they delete the record: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/roles/bulk", bulkHandlers(roleList));
  roleRoutes(app, deps);
}

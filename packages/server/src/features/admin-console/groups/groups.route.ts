/** The groups of an organisation, and one of them (directory.md). */
import type { FastifyInstance } from "fastify";
import type { RecordDeps } from "../../../core/record-changes.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { type ConsoleDeps, consoleRoute } from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { applicationGroupsRoutes } from "./application-groups.route.ts";
import { groupRoutes } from "./group.route.ts";
import { groupList } from "./group-list.ts";
import { groupRecord } from "./group-record.ts";
import { groupRolesRoutes } from "./group-roles.route.ts";
import { memberImportRoute } from "./import.route.ts";
import { groupMembersRoutes } from "./members.route.ts";

export function groupsRoutes(app: FastifyInstance, deps: ConsoleDeps & RecordDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/groups", groupList);
  tabbedRecordRoutes(app, deps, groupRecord);
  memberImportRoute(app, deps);
  groupMembersRoutes(app, deps);
  groupRolesRoutes(app, deps);
  applicationGroupsRoutes(app, deps);
  consoleRoute(app, deps, "/oauth/manage/:org/groups/export", { get: listExport(groupList) });
  // Last, for they delete the record: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/groups/bulk", bulkHandlers(groupList));
  groupRoutes(app, deps);
}

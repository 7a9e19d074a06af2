/** The connections of an organisation: directories, and identity providers. */
import type { FastifyInstance } from "fastify";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { consoleRoute } from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { connectionList } from "./connection-list.ts";
import type { ConnectionsDeps } from "./connection-pages.ts";
import { connectionRecord } from "./connection-record.ts";
import { connectionEndRoutes } from "./end.route.ts";
import { connectionGroupsRoute } from "./group-mapping.ts";
import { newConnectionRoute } from "./new.route.ts";
import { connectionSettingsRoute } from "./settings.route.ts";
import { connectionTestRoutes } from "./test.route.ts";
import { connectionTokensRoutes } from "./tokens.route.ts";

export function connectionsRoutes(app: FastifyInstance, deps: ConnectionsDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/connections", connectionList);
  newConnectionRoute(app, deps);
  tabbedRecordRoutes(app, deps, connectionRecord);
  connectionTokensRoutes(app, deps);
  connectionSettingsRoute(app, deps);
  connectionGroupsRoute(app, deps);
  connectionTestRoutes(app, deps);
  consoleRoute(app, deps, "/oauth/manage/:org/connections/export", { get: listExport(connectionList) });
  // Last, for they delete the record: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/connections/bulk", bulkHandlers(connectionList));
  connectionEndRoutes(app, deps);
}

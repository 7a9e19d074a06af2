/** The list of signing pools with their status, and the routes of all pool pages. */
import type { FastifyInstance } from "fastify";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listCard, listLiveRoute, listRoute } from "../../../page-kit/list/list-route.ts";
import { type ConsoleDeps, consoleRoute } from "../../../page-kit/page.ts";
import { agentRoutes } from "./agent.route.ts";
import { poolPageRoutes } from "./pool.route.ts";
import { newPoolRoute, poolSettingsRoute } from "./pool-form.route.ts";
import { poolList } from "./pool-list.ts";
import { reloadLink } from "./pools.page.ts";
import { registerRoutes } from "./register.route.ts";

export function poolRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/pools", poolList, (section, { messages, consoleUri }) => [
    listCard(messages.console.pools.title, section),
    reloadLink(consoleUri("/pools"), messages),
  ]);
  listLiveRoute(app, deps, "/oauth/manage/:org/pools/live", poolList);
  consoleRoute(app, deps, "/oauth/manage/:org/pools/bulk", bulkHandlers(poolList));
  consoleRoute(app, deps, "/oauth/manage/:org/pools/export", { get: listExport(poolList) });
  newPoolRoute(app, deps);
  poolSettingsRoute(app, deps);
  poolPageRoutes(app, deps);
  registerRoutes(app, deps);
  agentRoutes(app, deps);
}

/** The list of signing pools with their status, and the routes of all pool pages. */
import type { FastifyInstance } from "fastify";
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readingRoute } from "../../../page-kit/console-frame.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/page.ts";
import { agentRoutes } from "./agent.route.ts";
import { poolPageRoutes } from "./pool.route.ts";
import { newPoolRoute, poolSettingsRoute } from "./pool-form.route.ts";
import { loadsOf } from "./pool-state.ts";
import { poolsPage, poolTable } from "./pools.page.ts";
import { registerRoutes } from "./register.route.ts";

export function poolRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/pools", "pools", async (_, visit, frame) =>
    poolsPage({
      ...frame,
      ...(await listPools(deps, visit)),
      isDeleted: parseQuery(visit.request).values.get("done") === "deleted",
    }),
  );
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/live", async (_, visit, messages) =>
    poolTable({ ...(await listPools(deps, visit)), messages }),
  );
  newPoolRoute(app, deps);
  poolSettingsRoute(app, deps);
  poolPageRoutes(app, deps);
  registerRoutes(app, deps);
  agentRoutes(app, deps);
}

async function listPools({ database, clock }: ConsoleDeps, { organisation }: Visit) {
  const pools = await listAllPools(database.query, organisation.id);
  const withLoad = await loadsOf(database.query, organisation.id, pools, clock());
  return {
    pools: pools.map(withLoad),
    consoleUri: (rest: string) => consolePath(organisation, rest),
  };
}

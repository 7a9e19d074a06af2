/** The pages of signing pools and their agents. */
import type { FastifyInstance } from "fastify";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { agentRoute } from "./agent.route.ts";
import { agentActRoutes } from "./agent-acts.route.ts";
import { newPoolRoute } from "./new-pool.route.ts";
import { poolRoute } from "./pool.route.ts";
import { poolActRoutes } from "./pool-acts.route.ts";
import { poolSettingsRoute } from "./pool-settings.route.ts";
import { poolsRoute } from "./pools.route.ts";
import { registerRoutes } from "./register.route.ts";

export function poolRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  poolsRoute(app, deps);
  newPoolRoute(app, deps);
  poolSettingsRoute(app, deps);
  poolRoute(app, deps);
  poolActRoutes(app, deps);
  registerRoutes(app, deps);
  agentRoute(app, deps);
  agentActRoutes(app, deps);
}

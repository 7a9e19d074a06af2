/** Registers the quickstart and the token inspector. */
import type { FastifyInstance } from "fastify";
import { quickstartRoute } from "./quickstart.route.ts";
import { type RunningDeps, runningRoutes } from "./running.route.ts";
import { type InspectorDeps, tokenInspectorRoute } from "./token-inspector.route.ts";

export function quickstartRoutes(app: FastifyInstance, deps: RunningDeps & InspectorDeps): void {
  quickstartRoute(app, deps);
  tokenInspectorRoute(app, deps);
  runningRoutes(app, deps);
}

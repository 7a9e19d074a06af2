/** The wiring of the console's first page, and of the pages about keys: the organisation's own, and those of its pools. */
import type { FastifyInstance } from "fastify";
import { overviewRoute } from "../features/admin-console/overview/overview.route.ts";
import { signingKeysRoutes } from "../features/admin-console/signing-keys/signing-keys.route.ts";
import { poolRoutes } from "../features/sovereign/console/pool-routes.ts";
import type { ConsoleDeps } from "../page-kit/visit.ts";
import type { Service } from "./open-service.ts";

/** In a scope that knows cookies and forms. */
export function mountConsoleKeys(scope: FastifyInstance, service: Service, deps: ConsoleDeps): void {
  const { keyRotationDays } = service.config;
  const hasMail = service.mailTransport.kind !== "none";
  overviewRoute(scope, { ...deps, keyRotationDays, hasMail });
  signingKeysRoutes(scope, { ...deps, ...service, baseUrl: deps.baseUrl, keyRotationDays });
  poolRoutes(scope, deps);
}

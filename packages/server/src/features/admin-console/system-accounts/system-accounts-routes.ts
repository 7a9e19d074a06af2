/** Registers the pages of system accounts. */
import type { FastifyInstance } from "fastify";
import { accountRoutes } from "./account.route.ts";
import type { AccountsDeps } from "./account-pages.ts";
import { keysRoutes } from "./keys.route.ts";
import { accountListRoutes } from "./list.route.ts";
import { newAccountRoute } from "./new.route.ts";
import { permissionsRoutes } from "./permissions.route.ts";

export function systemAccountsPages(app: FastifyInstance, deps: AccountsDeps): void {
  newAccountRoute(app, deps);
  keysRoutes(app, deps);
  permissionsRoutes(app, deps);
  // Last, for they delete the record: invariants/ submits all forms in this order.
  accountListRoutes(app, deps);
  accountRoutes(app, deps);
}

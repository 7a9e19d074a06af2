/** Registers the pages of system accounts. */
import type { FastifyInstance } from "fastify";
import { accountRoute } from "./account.route.ts";
import type { AccountsDeps } from "./account-path.ts";
import { editAccountRoute } from "./edit.route.ts";
import { endRoutes } from "./end.route.ts";
import { keysRoutes } from "./keys.route.ts";
import { accountListRoute } from "./list.route.ts";
import { newAccountRoute } from "./new.route.ts";
import { permissionsRoutes } from "./permissions.route.ts";

export function systemAccountsPages(app: FastifyInstance, deps: AccountsDeps): void {
  accountListRoute(app, deps);
  newAccountRoute(app, deps);
  accountRoute(app, deps);
  editAccountRoute(app, deps);
  keysRoutes(app, deps);
  permissionsRoutes(app, deps);
  endRoutes(app, deps);
}

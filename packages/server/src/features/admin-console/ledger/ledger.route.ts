/** The ledger of an organisation: how it stands, who witnesses it, and how anybody verifies it. */
import type { FastifyInstance } from "fastify";
import { type ConsoleDeps, consoleRoute, requireAdministrator } from "../../../page-kit/page.ts";
import { ledgerSearchRoute } from "./search.route.ts";
import { ledgerSettingsRoute } from "./settings.route.ts";
import { showLedger } from "./show-ledger.ts";
import { ledgerWitnessesRoutes } from "./witnesses.route.ts";

export function ledgerRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/ledger", {
    get: async (_, visit) => {
      const signedIn = await requireAdministrator(deps, visit);
      await showLedger(deps, visit, signedIn, { input: { token: "" } });
    },
  });
  ledgerSearchRoute(app, deps);
  ledgerSettingsRoute(app, deps);
  ledgerWitnessesRoutes(app, deps);
}

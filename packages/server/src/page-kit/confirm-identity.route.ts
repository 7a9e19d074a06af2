/** GET confirm-identity: signs in again in another tab, while a form waits (reauthentication.ts). */
import type { FastifyInstance } from "fastify";
import { identityConfirmedPage } from "../html/components/act.page.ts";
import { consoleFrame } from "./console-frame.ts";
import { type ConsoleDeps, consoleRoute, requireRecentAuthentication, show } from "./page.ts";

export function confirmIdentityRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/confirm-identity", {
    get: async (_, visit) => {
      const signedIn = await requireRecentAuthentication(deps, visit);
      const frame = await consoleFrame(deps, visit, signedIn, undefined);
      await show(visit, frame, identityConfirmedPage(frame));
    },
  });
}

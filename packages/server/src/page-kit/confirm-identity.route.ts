/** GET confirm-identity: signs in again beside a page that waits with what was typed (sent-form.ts). */
import type { FastifyInstance } from "fastify";
import { identityConfirmedPage } from "../html/components/act.page.ts";
import { consoleFrame } from "./console-frame.ts";
import { type ConsoleDeps, consolePath, consoleRoute, provenAdministrator, show } from "./visit.ts";

export function confirmIdentityRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/confirm-identity", {
    get: async (visit) => {
      const path = consolePath(visit.organisation, "/confirm-identity");
      const signedIn = await provenAdministrator(deps, visit, path);
      if (!signedIn) return;
      const frame = await consoleFrame(deps, visit, signedIn, undefined);
      await show(visit, frame, identityConfirmedPage(frame));
    },
  });
}

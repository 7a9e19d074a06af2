/** GET confirm-identity: signs in again beside a page that waits with what was typed (submission.ts). */
import type { FastifyInstance } from "fastify";
import { consoleLayout } from "../html/console/console-layout.ts";
import { html } from "../html/html.ts";
import { consoleFrame } from "./console-frame.ts";
import { type ConsoleDeps, consolePath, consoleRoute, provenAdministrator, show } from "./visit.ts";

export function confirmIdentityRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/confirm-identity", {
    get: async (visit) => {
      const path = consolePath(visit.organisation, "/confirm-identity");
      const signedIn = await provenAdministrator(deps, visit, path);
      if (!signedIn) return;
      const frame = await consoleFrame(deps, visit, signedIn, undefined);
      const { prove } = frame.messages.console.frame;
      const body = html`<section class="card"><p id="identity-confirmed">${prove.confirmedText}</p></section>
`;
      await show(visit, frame, consoleLayout({ ...frame, breadcrumbs: [], title: prove.confirmed, body }));
    },
  });
}

/** Consents and pre-authorizations: who allowed which application what (specification, "Consent"). */
import type { FastifyInstance } from "fastify";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listCard, listRoute } from "../../../page-kit/list/list-route.ts";
import { type ConsoleDeps, consoleRoute } from "../../../page-kit/page.ts";
import { consentList } from "./consent-list.ts";
import { consentTabs } from "./consents.page.ts";
import { grantRoutes } from "./grant.route.ts";
import { preauthorizationList } from "./preauthorization-list.ts";
import { revokeRoutes } from "./revoke.route.ts";

export function consentsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/consents", consentList, (section, frame) => [
    consentTabs("consents", frame),
    listCard(frame.messages.console.frame.pages.consents, section),
  ]);
  consoleRoute(app, deps, "/oauth/manage/:org/consents/export", { get: listExport(consentList) });
  listRoute(app, deps, "/oauth/manage/:org/preauthorizations", preauthorizationList, (section, frame) => [
    consentTabs("preauthorizations", frame),
    listCard(frame.messages.console.consents.tabs.preauthorizations, section),
  ]);
  consoleRoute(app, deps, "/oauth/manage/:org/preauthorizations/export", {
    get: listExport(preauthorizationList),
  });
  grantRoutes(app, deps);
  // Last, for they end records: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/consents/bulk", bulkHandlers(consentList));
  consoleRoute(app, deps, "/oauth/manage/:org/preauthorizations/bulk", bulkHandlers(preauthorizationList));
  revokeRoutes(app, deps);
}

/** Registers the pages of the audit log. */
import type { FastifyInstance } from "fastify";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { auditEventRoute } from "./event.route.ts";
import { auditExportRoute } from "./export.route.ts";
import { auditListRoute } from "./list.route.ts";

export function auditLogRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  auditListRoute(app, deps);
  auditExportRoute(app, deps);
  auditEventRoute(app, deps);
}

/** applications/{id}/roles: the tab with the roles of the application. */
import type { FastifyInstance } from "fastify";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { consoleRoute, requireAdministrator, requireId, show, type Visit } from "../../../page-kit/page.ts";
import { showInTab } from "../../../page-kit/record-tabs.ts";
import { rolesOf } from "../roles/role-list.ts";
import type { RolesDeps } from "../roles/role-pages.ts";
import { applicationPages } from "./application-pages.ts";
import { applicationRecord } from "./tab.route.ts";

export const applicationRolesRoute = (app: FastifyInstance, deps: RolesDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/roles", { get: showRoles });

async function showRoles(deps: RolesDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const application = await applicationPages.require(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const page = await showInTab(deps, visit, applicationRecord, {
    ...{ tab: "roles", frame, stored: application, signedIn },
    content: () => rolesOf(deps, frame, visit, application.id),
  });
  await show(visit, frame, page);
}

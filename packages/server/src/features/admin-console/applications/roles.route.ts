/** applications/{id}/roles: the tab with the roles of the application, what is done with ticked ones, and a file of them. */
import type { FastifyInstance } from "fastify";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";
import { renderList } from "../../../page-kit/list/list-view.ts";
import {
  consoleRoute,
  queryString,
  requestPath,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { showInTab } from "../../../page-kit/record-tabs.ts";
import { applicationRoleList } from "../roles/role-list.ts";
import type { RolesDeps } from "../roles/role-pages.ts";
import { applicationPages } from "./application-pages.ts";
import { applicationRecord } from "./tab.route.ts";

type Handler = (deps: RolesDeps, visit: Visit) => Promise<void>;

export function applicationRolesRoute(app: FastifyInstance, deps: RolesDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/roles", { get: showRoles });
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/roles/export", { get: ofRoles(listExport) });
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/roles/bulk", {
    get: ofRoles((list) => bulkHandlers(list).get),
    post: ofRoles((list) => bulkHandlers(list).post),
  });
}

/** What is done with the roles of the application in the address. */
const ofRoles =
  (handlerOf: (list: ReturnType<typeof applicationRoleList>) => Handler): Handler =>
  async (deps, visit) => {
    requireId(visit);
    const query = queryString(Object.fromEntries(parseQuery(visit.request).values));
    await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
    await handlerOf(applicationRoleList(await applicationPages.require(deps, visit)))(deps, visit);
  };

async function showRoles(deps: RolesDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const { values } = parseQuery(visit.request);
  const query = queryString(Object.fromEntries(values));
  const signedIn = await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
  const application = await applicationPages.require(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const list = applicationRoleList(application);
  const { section, isEmpty } = await renderList(deps, visit, frame, signedIn, list);
  const page = await showInTab(deps, visit, applicationRecord, {
    ...{ tab: "roles", frame, stored: application, signedIn },
    content: () => [!isEmpty && list.create(frame), listCard(frame.messages.console.roles.title, section)],
  });
  await show(visit, frame, page);
}

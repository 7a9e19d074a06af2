/** Where the pages that a portal link opens begin, and end. */
import type { FastifyInstance } from "fastify";
import { listConnections } from "../../../core/connections/connections.store.ts";
import { type PortalLink, purposeOf } from "../../../core/portal-links/portal-link.ts";
import { closePortalLink } from "../../../core/portal-links/portal-links.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireAdministrator,
  SeeOther,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { PORTAL, PORTAL_ENDED } from "../../../page-kit/portal-visit.ts";
import { domainRows } from "../domains/domains.route.ts";
import { portalHomePage } from "./home.page.ts";
import { openPortalRoutes } from "./open.route.ts";

export function portalRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  openPortalRoutes(app, deps);
  consoleRoute(app, deps, "/oauth/manage/:org/portal", { get: showHome });
  consoleRoute(app, deps, "/oauth/manage/:org/portal/close", { post: close });
}

async function showHome(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const visitor = await requireAdministrator(deps, visit);
  const { purposes, endsAt } = linkOf(visit, visitor);
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, visitor, undefined);
  const connections = (await listConnections(deps.database.query, organisation.id)).filter((one) =>
    purposes.includes(purposeOf(one)),
  );
  const domains = purposes.includes("domains") ? await domainRows(deps, organisation.id, frame) : undefined;
  await show(visit, frame, portalHomePage(frame, { purposes, connections, domains, endsAt }));
}

/** @throws SeeOther for an administrator, who has pages of their own */
function linkOf({ organisation }: Visit, { portal }: SignedIn): PortalLink {
  if (!portal) throw new SeeOther(consolePath(organisation, "/connections"));
  return portal;
}

/** A form that is too old leads back to the page. */
async function close(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptForm(deps, visit);
  const link = linkOf(visit, form.signedIn);
  if (form.outcome !== "accepted") return redirectTo(visit, consolePath(visit.organisation, PORTAL));
  await closePortalLink(deps, { ...auditContext(visit, form.signedIn), id: link.id });
  deps.browserSession.portalCookie.clear(visit);
  await redirectTo(visit, PORTAL_ENDED);
}

/** quickstart: the gallery, and from one of its entries to a running client (specification, "Management UI"). */
import type { FastifyInstance } from "fastify";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { consoleRoute, requireAdministrator, show, type Visit } from "../../../page-kit/page.ts";
import { createFromForm, showEntryForm } from "./create-entry.ts";
import { galleryPage } from "./gallery.page.ts";
import { type RunningDeps, runningRoutes } from "./running.route.ts";
import { type InspectorDeps, tokenInspectorRoute } from "./token-inspector.route.ts";

export function quickstartRoutes(app: FastifyInstance, deps: RunningDeps & InspectorDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart", { get: showGallery });
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart/new", { get: showEntryForm, post: createFromForm });
  tokenInspectorRoute(app, deps);
  runningRoutes(app, deps);
}

async function showGallery(deps: RunningDeps, visit: Visit): Promise<void> {
  const signedIn = await requireAdministrator(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "quickstart");
  const devicesUri = `/devices/manage/${visit.organisation.id}`;
  await show(visit, frame, galleryPage({ ...frame, devicesUri }));
}

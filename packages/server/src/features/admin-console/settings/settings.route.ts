/** GET /oauth/manage/{org}/settings: the organisation's settings, with links to their forms. */
import type { FastifyInstance } from "fastify";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { doneKey, openPage } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { brandingRoutes } from "./branding.route.ts";
import { imagesRoute } from "./images.route.ts";
import { methodsRoutes } from "./methods.route.ts";
import { loadOrganisation } from "./organisation-record.ts";
import { type PoliciesDeps, policiesRoute } from "./policies.route.ts";
import { settingsPage } from "./settings.page.ts";
import type { SignInPreviewDeps } from "./show-sign-in.ts";
import { signUpSettingsRoute } from "./sign-up.route.ts";

export function settingsRoutes(app: FastifyInstance, deps: PoliciesDeps & SignInPreviewDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/settings", { get: showSettings });
  brandingRoutes(app, deps);
  methodsRoutes(app, deps);
  imagesRoute(app, deps);
  policiesRoute(app, deps);
  signUpSettingsRoute(app, deps);
}

async function showSettings(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const path = consolePath(organisation, "/settings");
  const done = parseQuery(request).values.get("done");
  // An administrator who has just required a second factor may have to add one first, and sees the notice afterwards.
  const frame = await openPage(deps, visit, "settings", path + queryString({ done }));
  const page = settingsPage({
    ...frame,
    record: await loadOrganisation(deps, visit),
    issuer: issuerOf(deps.baseUrl, organisation.id),
    devicesUri: `/devices/manage/${organisation.id}/policy`,
    lastChange: await findLastChange(deps, organisation.id, organisation.id, frame.messages),
    done: doneKey(visit, frame.messages.console.settings.done),
  });
  await show(visit, frame, page);
}

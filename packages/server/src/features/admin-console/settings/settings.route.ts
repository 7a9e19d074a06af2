/** oauth/manage/{org}/settings: the organisation's settings as they are. Changing them is beside it. */
import type { FastifyInstance } from "fastify";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { brandingRoute } from "./branding.route.ts";
import { logoRoute } from "./logo.route.ts";
import { type PoliciesDeps, policiesRoute } from "./policies.route.ts";
import { recordOf } from "./saving.ts";
import { settingsPage } from "./settings.page.ts";

export function settingsRoutes(app: FastifyInstance, deps: PoliciesDeps): void {
  consoleRoute(app, deps, "/settings", { get: (visit) => showSettings(deps, visit) });
  brandingRoute(app, deps);
  policiesRoute(app, deps);
  logoRoute(app, deps);
}

async function showSettings(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const path = consolePath(organisation, "/settings");
  const done = queryOf(request).values.get("done") ?? "";
  // Whoever has just asked everybody for a second factor may have to add one first, and is told afterwards.
  const signedIn = await administratorHere(deps, visit, path + queryText({ done }));
  if (!signedIn) return;
  const frame = await consoleFrame(deps, visit, signedIn, "settings");
  const { done: doneTexts } = frame.messages.console.settings;
  const page = settingsPage({
    ...frame,
    record: await recordOf(deps, visit),
    issuer: issuerOf(deps.baseUrl, organisation.id),
    brandingUri: `${path}/branding`,
    logoEditUri: `${path}/logo`,
    policiesUri: `${path}/policies`,
    devicesUri: `/devices/manage/${organisation.id}/policy`,
    lastChange: await lastChangeOf(deps, organisation.id, organisation.id, frame.messages),
    done: Object.hasOwn(doneTexts, done) ? (done as keyof typeof doneTexts) : undefined,
    script: copyScript.path,
  });
  await show(visit, frame, page);
}

/** applications/new: the kind first, then one short form; a client secret is shown once. */
import type { FastifyInstance } from "fastify";
import { defaultSettings } from "../../../core/applications/application.ts";
import { type ApplicationKind, clientTypeOf, isApplicationKind } from "../../../core/applications/kinds.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm } from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { applicationPages } from "./application-pages.ts";
import { createOnce, duplicateCreation, initialSettings, showSecret } from "./create-application.ts";
import { chooseKindPage, newApplicationPage } from "./new.page.ts";
import { fieldChoices } from "./setting-choices.route.ts";
import { settingFaults } from "./setting-faults.ts";
import type { SettingId } from "./setting-fields.ts";
import { readSettingsInput, type SettingsInput, toInput, toSettings } from "./settings-input.ts";

export function newApplicationRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/new", {
    get: showNewApplication,
    post: createFromForm,
  });
}

/** The fields of the short form, the first address only; everything else is on the tabs of its record. */
const initialFields: Readonly<Record<ApplicationKind, readonly SettingId[]>> = {
  web: ["name", "redirectUris"],
  spa: ["name", "redirectUris"],
  native: ["name", "redirectUris"],
  // Its tokens would be for nothing.
  service: ["name", "allowedScopes"],
  device: ["name"],
  legacy: ["name", "returnUrls"],
};

const emptyApplication = (kind: ApplicationKind) => ({
  name: "",
  settings: { ...defaultSettings(clientTypeOf[kind]), ...initialSettings(kind) },
});

const newPath = ({ organisation }: Visit, kind?: ApplicationKind): string =>
  consolePath(organisation, `/applications/new${kind === undefined ? "" : `?kind=${kind}`}`);

async function showNewApplication(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const requested = parseQuery(visit.request).values.get("kind");
  const kind = isApplicationKind(requested) ? requested : undefined;
  const signedIn = await requireRecentAuthentication(deps, visit, newPath(visit, kind));
  if (kind === undefined) {
    const frame = await consoleFrame(deps, visit, signedIn, "applications");
    return show(visit, frame, chooseKindPage(frame));
  }
  const input = toInput(emptyApplication(kind));
  await showForm(deps, visit, signedIn, kind, { input });
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  kind: ApplicationKind,
  shown: FormShown<SettingsInput>,
): Promise<void> {
  const choices = await fieldChoices(deps, visit, { clientType: clientTypeOf[kind] });
  await showFormPage(deps, visit, signedIn, "applications", shown, (view) =>
    newApplicationPage({ ...view, ...choices, kind, fields: initialFields[kind] }),
  );
}

async function createFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const sentKind = parsedForm(visit.request).values.get("kind");
  const isKind = isApplicationKind(sentKind);
  const kind = isKind ? sentKind : "web";
  const form = await acceptOneTimeForm(deps, visit, newPath(visit, isKind ? kind : undefined));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readSettingsInput(form, initialFields[kind]);
  const rerender = (shown: Partial<FormShown<SettingsInput>>) =>
    showForm(deps, visit, signedIn, kind, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  // Not a form of ours: the kind is chosen again.
  if (!isKind) return redirectTo(visit, newPath(visit));

  try {
    const content = toSettings(input, emptyApplication(kind));
    const created = await createOnce(deps, visit, form, kind, content);
    if (created === "duplicate-submission") return rerender(duplicateCreation(visit, signedIn, kind));
    const { application, plaintext } = created;
    if (plaintext !== undefined) return showSecret(deps, visit, signedIn, { application, plaintext });
    await redirectTo(visit, applicationPages.path(visit.organisation, application.id, "?done=created"));
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    const faults = settingFaults(error.faults, initialFields[kind], pageMessages(visit, signedIn), true);
    await rerender({ state: { faults }, status: 400 });
  }
}

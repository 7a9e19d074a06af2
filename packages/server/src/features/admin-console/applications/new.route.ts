/** applications/new: the kind first, then one short form; a client secret is shown once. */
import type { FastifyInstance } from "fastify";
import { type Application, defaultSettings } from "../../../core/applications/application.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createWithSecret } from "../../../core/applications/client-secrets.ts";
import {
  type ApplicationKind,
  clientTypeOf,
  isApplicationKind,
  settingsOfKind,
  startsWithSecret,
} from "../../../core/applications/kinds.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { applicationPath, listCrumb } from "./application-path.ts";
import { chooseKindPage, newApplicationPage } from "./new.page.ts";
import { settingFaults } from "./setting-faults.ts";
import type { SettingId } from "./setting-fields.ts";
import { fieldChoices } from "./settings.route.ts";
import { readSettingsInput, type SettingsInput, toInput, toSettings } from "./settings-input.ts";

export function newApplicationRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/new", {
    get: showNewApplication,
    post: createFromForm,
  });
}

/** The fields of the short form; everything else is in the settings. */
const initialFields: Readonly<Record<ApplicationKind, readonly SettingId[]>> = {
  web: ["name", "redirectUris", "postLogoutRedirectUris", "consentMode"],
  spa: ["name", "redirectUris", "postLogoutRedirectUris", "consentMode"],
  native: ["name", "redirectUris", "consentMode"],
  service: ["name", "allowedScopes", "audience"],
  device: ["name", "consentMode"],
  legacy: ["name", "returnUrls"],
};

const initialSettings = (kind: ApplicationKind) => ({
  ...defaultSettings(clientTypeOf[kind]),
  ...settingsOfKind(kind),
  ...(kind === "native" ? { redirectUris: ["http://127.0.0.1/callback"] } : {}),
});

const newPath = ({ organisation }: Visit, kind?: ApplicationKind): string =>
  consolePath(organisation, `/applications/new${kind === undefined ? "" : `?kind=${kind}`}`);

async function showNewApplication(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const requested = parseQuery(visit.request).values.get("kind");
  const kind = isApplicationKind(requested) ? requested : undefined;
  const signedIn = await requireRecentAuthentication(deps, visit, newPath(visit, kind));
  if (kind === undefined) return showKinds(deps, visit, signedIn);
  const input = toInput({ name: "", settings: initialSettings(kind) });
  await showForm(deps, visit, signedIn, kind, { input });
}

async function showKinds(deps: ConsoleDeps, visit: Visit, signedIn: SignedIn): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const page = chooseKindPage({
    ...frame,
    breadcrumbs: [listCrumb(visit.organisation, frame.messages)],
    uriOf: (kind) => newPath(visit, kind),
  });
  await show(visit, frame, page);
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  kind: ApplicationKind,
  shown: FormShown<SettingsInput>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "applications", shown);
  const page = newApplicationPage({
    ...view,
    ...(await fieldChoices(deps, visit, { clientType: clientTypeOf[kind] })),
    kind,
    breadcrumbs: [
      listCrumb(visit.organisation, view.messages),
      { label: view.messages.console.applications.choose.title, uri: newPath(visit) },
    ],
    fields: initialFields[kind],
  });
  await show(visit, view, page, shown.status);
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

  const messages = pageMessages(visit, signedIn);
  try {
    const created = await create(deps, visit, form, kind, input);
    if (created === "duplicate-submission") return rerender(sentBefore(visit, signedIn, kind));
    const { application, plaintext } = created;
    if (plaintext !== undefined) return showSecret(deps, visit, signedIn, { application, plaintext });
    await redirectTo(visit, applicationPath(visit.organisation, application.id, "?done=created"));
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    const faults = settingFaults(error.faults, initialFields[kind], messages);
    await rerender({ state: { faults }, status: 400 });
  }
}

function sentBefore(visit: Visit, signedIn: SignedIn, kind: ApplicationKind) {
  const { frame } = pageMessages(visit, signedIn).console;
  return duplicateSubmission({
    made: { label: frame.pages.applications, uri: consolePath(visit.organisation, "/applications") },
    secret: startsWithSecret(kind) ? frame.sentBefore.secret.application : undefined,
  });
}

/** @throws InvalidApplication */
function create(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  kind: ApplicationKind,
  input: SettingsInput,
): Promise<{ application: Application; plaintext?: string } | "duplicate-submission"> {
  const content = toSettings(input, { name: "", settings: initialSettings(kind) });
  const wanted = { ...auditContext(visit, form.signedIn), ...content, clientType: clientTypeOf[kind] };
  const secretLabel = pageMessages(visit, form.signedIn).console.applications.secrets.firstLabel;
  return applyOnce(deps, form, async (inside) =>
    startsWithSecret(kind)
      ? createWithSecret(inside, { ...wanted, secretLabel })
      : { application: await createApplication(inside, wanted) },
  );
}

/** With everything that a client's configuration needs. */
export async function showSecret(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  { application, plaintext }: { application: Application; plaintext: string },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const { secrets, record } = frame.messages.console.applications;
  const { organisation } = visit;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: [listCrumb(organisation, frame.messages)],
    title: secrets.shownTitle({ name: application.name }),
    text: secrets.shownText,
    values: [
      { id: "issuer", title: record.issuer, lines: issuerOf(deps.baseUrl, organisation.id) },
      { id: "client-id", title: record.clientId, lines: application.id },
      { id: "client-secret", title: secrets.secret, lines: plaintext },
    ],
    doneUri: applicationPath(organisation, application.id),
  });
  await show(visit, frame, page);
}

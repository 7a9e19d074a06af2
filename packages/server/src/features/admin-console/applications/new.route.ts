/** applications/new: the kind first, then one short form; a client secret is shown once. */
import type { FastifyInstance } from "fastify";
import { type Application, defaultSettings } from "../../../core/applications/application.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import {
  type ApplicationKind,
  clientTypeOf,
  isApplicationKind,
  settingsOfKind,
  startsWithSecret,
} from "../../../core/applications/kinds.ts";
import { createWithSecret } from "../../../core/applications/new-application.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import { checksScript, copyScript } from "../../../html/scripts.ts";
import { formOf, queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { type Making, making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { applicationPath, listCrumb } from "./application-visit.ts";
import { choosePage, newPage } from "./new.page.ts";
import { settingFaults } from "./setting-faults.ts";
import type { SettingId } from "./setting-fields.ts";
import { choicesOf } from "./settings.route.ts";
import { readTyped, settingsOf, type TypedSettings, typedOf } from "./typed-settings.ts";

const REST = "/applications/new";

/** What is asked at the beginning; the rest is in the settings. */
const asked: Readonly<Record<ApplicationKind, readonly SettingId[]>> = {
  web: ["name", "redirectUris", "postLogoutRedirectUris", "consentMode"],
  spa: ["name", "redirectUris", "postLogoutRedirectUris", "consentMode"],
  native: ["name", "redirectUris", "consentMode"],
  service: ["name", "allowedScopes", "audience"],
  device: ["name", "consentMode"],
  legacy: ["name", "returnUrls"],
};

export function newApplicationRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, REST, {
    get: async (visit) => {
      const kind = queryOf(visit.request).values.get("kind");
      const path = pathOf(visit, isApplicationKind(kind) ? kind : undefined);
      const signedIn = await provenAdministrator(deps, visit, path);
      if (!signedIn) return;
      if (isApplicationKind(kind)) await showForm(deps, visit, signedIn, kind);
      else await choose(deps, visit, signedIn);
    },
    post: (visit) => create(deps, visit),
  });
}

const pathOf = ({ organisation }: Visit, kind?: ApplicationKind): string =>
  consolePath(organisation, kind === undefined ? REST : `${REST}?kind=${kind}`);

async function choose(deps: ConsoleDeps, visit: Visit, signedIn: SignedIn): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const page = choosePage({
    ...frame,
    breadcrumbs: [listCrumb(visit.organisation, frame.messages)],
    uriOf: (kind) => pathOf(visit, kind),
    systemAccountUri: consolePath(visit.organisation, "/system-accounts/new"),
  });
  await show(visit, frame, page);
}

interface Again {
  readonly typed: TypedSettings;
  readonly form?: FormState;
  readonly failure?: Refusal["failure"];
  readonly status: number;
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  kind: ApplicationKind,
  again?: Again,
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const { messages } = frame;
  const clientType = clientTypeOf[kind];
  const page = newPage({
    ...frame,
    ...(await choicesOf(deps, visit, { clientType })),
    breadcrumbs: [
      listCrumb(visit.organisation, messages),
      { label: messages.console.applications.choose.title, uri: pathOf(visit) },
    ],
    kind,
    fields: asked[kind],
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    action: pathOf(visit),
    cancelUri: consolePath(visit.organisation, "/applications"),
    typed: again?.typed ?? typedOf({ name: "", settings: startOf(kind) }),
    form: again?.form ?? {},
    failure: again?.failure,
    script: checksScript.path,
  });
  await show(visit, frame, page, again?.status ?? 200);
}

const startOf = (kind: ApplicationKind) => ({
  ...defaultSettings(clientTypeOf[kind]),
  ...settingsOfKind(kind),
  ...(kind === "native" ? { redirectUris: ["http://127.0.0.1/callback"] } : {}),
});

async function create(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const wanted = formOf(visit.request).values.get("kind");
  const kind = isApplicationKind(wanted) ? wanted : undefined;
  const again = async (refused: Submission, refusal: Refusal) => {
    const typed = readTyped(refused, asked[kind ?? "web"]);
    await showForm(deps, visit, refused.signedIn, kind ?? "web", { typed, ...refusal });
  };
  const sent = await making(deps, visit, pathOf(visit, kind), again, ({ console: { frame } }) => ({
    made: { label: frame.pages.applications, uri: consolePath(visit.organisation, "/applications") },
    secret: kind && startsWithSecret(kind) ? frame.sentBefore.secret.application : undefined,
  }));
  if (!sent) return;
  // No form of ours: the choice is made again.
  if (kind === undefined) return goTo(visit, pathOf(visit));
  const typed = readTyped(sent, asked[kind]);
  try {
    await make(deps, visit, sent, kind, typed);
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    const { messages } = await consoleFrame(deps, visit, sent.signedIn, "applications");
    const form = { faults: settingFaults(error.faults, asked[kind], messages) };
    await showForm(deps, visit, sent.signedIn, kind, { typed, form, status: 400 });
  }
}

async function make(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, once }: Making,
  kind: ApplicationKind,
  typed: TypedSettings,
): Promise<void> {
  const content = settingsOf(typed, { name: "", settings: startOf(kind) });
  const input = { ...actingOn(visit, signedIn), ...content, clientType: clientTypeOf[kind] };
  if (!startsWithSecret(kind)) {
    const made = await once((database) => createApplication({ ...deps, database }, input));
    if (made) await goTo(visit, applicationPath(visit.organisation, made.id, "?done=created"));
    return;
  }
  const { messages } = await consoleFrame(deps, visit, signedIn, "applications");
  const secretLabel = messages.console.applications.secrets.firstLabel;
  const made = await once((database) => createWithSecret({ ...deps, database }, { ...input, secretLabel }));
  if (made) await showSecret(deps, visit, signedIn, made);
}

/** With all that a client's configuration asks for. */
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
    script: copyScript.path,
  });
  await show(visit, frame, page);
}

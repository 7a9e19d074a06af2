/** GET and POST quickstart (specification, "Management UI"): from nothing to a running client in one form. */
import type { FastifyInstance } from "fastify";
import { createApplication } from "../../../core/applications/applications.ts";
import {
  type ApplicationKind,
  addressOf,
  clientTypeOf,
  hasAddress,
  isApplicationKind,
  settingsAt,
  settingsOfKind,
  startsWithSecret,
} from "../../../core/applications/kinds.ts";
import { createWithSecret } from "../../../core/applications/new-application.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { formOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { type Making, making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { quickstartPage, type TypedQuickstart } from "./quickstart.page.ts";
import { type RunningDeps, showRunning } from "./running.route.ts";

const REST = "/quickstart";
const start: TypedQuickstart = { kind: "web", name: "", address: "http://localhost:3000" };

export function quickstartRoute(app: FastifyInstance, deps: RunningDeps): void {
  consoleRoute(app, deps, REST, {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, consolePath(visit.organisation, REST));
      if (signedIn) await showForm(deps, visit, signedIn, { typed: start });
    },
    post: (visit) => begin(deps, visit),
  });
}

async function showForm(
  deps: RunningDeps,
  visit: Visit,
  signedIn: SignedIn,
  again: { typed: TypedQuickstart; form?: FormState; failure?: FormFailure; status?: number },
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "quickstart");
  const page = quickstartPage({
    ...frame,
    action: consolePath(organisation, REST),
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    typed: again.typed,
    form: again.form ?? {},
    failure: again.failure,
    systemAccountUri: consolePath(organisation, "/system-accounts/new"),
    inspectorUri: consolePath(organisation, `${REST}/token-inspector`),
  });
  await show(visit, frame, page, again.status ?? 200);
}

const MOST_LETTERS = 2_048;

const typedIn = (values: ReadonlyMap<string, string>): TypedQuickstart => ({
  kind: values.get("kind") ?? "",
  name: (values.get("name") ?? "").trim().slice(0, MOST_LETTERS),
  address: (values.get("address") ?? "").trim().slice(0, MOST_LETTERS),
});

async function begin(deps: RunningDeps, visit: Visit): Promise<void> {
  const path = consolePath(visit.organisation, REST);
  const again = ({ signedIn, values }: Submission, refusal: Refusal) =>
    showForm(deps, visit, signedIn, { typed: typedIn(values), ...refusal });
  const sent = await making(deps, visit, path, again, ({ console: { frame } }) => ({
    made: { label: frame.pages.applications, uri: consolePath(visit.organisation, "/applications") },
    secret: hasSecret(formOf(visit.request).values.get("kind"))
      ? frame.sentBefore.secret.application
      : undefined,
  }));
  if (!sent) return;
  const { signedIn } = sent;
  const typed = typedIn(sent.values);
  const { messages } = await consoleFrame(deps, visit, signedIn, "quickstart");
  const faults = faultsOf(typed, messages);
  if (Object.keys(faults).length > 0 || !isApplicationKind(typed.kind))
    return showForm(deps, visit, signedIn, { typed, form: { faults }, status: 400 });
  try {
    await make(deps, visit, sent, { ...typed, kind: typed.kind }, messages);
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    const text = messages.console.applicationSettings;
    const isName = error.faults.some(({ path: member }) => member === "name");
    const found = isName ? { name: text.faults.name } : { address: text.reasons.https };
    await showForm(deps, visit, signedIn, { typed, form: { faults: sentence(found) }, status: 400 });
  }
}

const hasSecret = (kind: string | undefined): boolean => isApplicationKind(kind) && startsWithSecret(kind);

/** What stands after a colon elsewhere begins a text here. */
const sentence = (faults: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(faults).map(([id, text]) => [id, text.replace(/^./u, (letter) => letter.toUpperCase())]),
  );

function faultsOf({ kind, address }: TypedQuickstart, { console }: Messages): Record<string, string> {
  const { begin: text } = console.quickstart;
  if (!isApplicationKind(kind)) return { kind: text.kindFault };
  const isFine = !hasAddress(kind) || addressOf(address) !== undefined;
  return isFine ? {} : { address: text.addressFault };
}

async function make(
  deps: RunningDeps,
  visit: Visit,
  { signedIn, once }: Making,
  { kind, name, address }: TypedQuickstart & { kind: ApplicationKind },
  messages: Messages,
): Promise<void> {
  const settings = hasAddress(kind) ? settingsAt(kind, addressOf(address) ?? "") : settingsOfKind(kind);
  const own = kind === "native" ? { redirectUris: ["http://127.0.0.1/callback"] } : {};
  const input = {
    ...actingOn(visit, signedIn),
    name,
    clientType: clientTypeOf[kind],
    settings: { ...settings, ...own },
  };
  if (!startsWithSecret(kind)) {
    const made = await once((database) => createApplication({ ...deps, database }, input));
    if (made) await goTo(visit, consolePath(visit.organisation, `${REST}/${made.id}`));
    return;
  }
  const secretLabel = messages.console.applications.secrets.firstLabel;
  const made = await once((database) => createWithSecret({ ...deps, database }, { ...input, secretLabel }));
  if (made) await showRunning(deps, visit, signedIn, made.application, made.plaintext);
}

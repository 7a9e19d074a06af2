/** quickstart: from nothing to a running client in one form (specification, "Management UI"). */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createWithSecret } from "../../../core/applications/client-secrets.ts";
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
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { type QuickstartInput, quickstartPage } from "./quickstart.page.ts";
import { type RunningDeps, showRunning } from "./running.route.ts";

const initialInput: QuickstartInput = { kind: "web", name: "", address: "http://localhost:3000" };

export function quickstartRoute(app: FastifyInstance, deps: RunningDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart", { get: showQuickstart, post: createFromForm });
}

async function showQuickstart(deps: RunningDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: initialInput });
}

async function showForm(
  deps: RunningDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: FormShown<QuickstartInput>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "quickstart", shown);
  await show(visit, view, quickstartPage(view), shown.status);
}

const MAX_LETTERS = 2_048;

const readInput = (values: ReadonlyMap<string, string>): QuickstartInput => ({
  kind: values.get("kind") ?? "",
  name: (values.get("name") ?? "").trim().slice(0, MAX_LETTERS),
  address: (values.get("address") ?? "").trim().slice(0, MAX_LETTERS),
});

async function createFromForm(deps: RunningDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readInput(form.values);
  const { kind } = input;
  const rerender = (shown: Partial<FormShown<QuickstartInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const faults = findFaults(input, messages);
  if (Object.keys(faults).length > 0 || !isApplicationKind(kind))
    return rerender({ state: { faults }, status: 400 });
  try {
    const created = await create(deps, visit, form, { ...input, kind });
    if (created === "duplicate-submission") {
      const { pages, sentBefore } = messages.console.frame;
      const made = { label: pages.applications, uri: consolePath(organisation, "/applications") };
      const secret = startsWithSecret(kind) ? sentBefore.secret.application : undefined;
      return rerender(duplicateSubmission({ made, secret }));
    }
    const { application, plaintext } = created;
    if (plaintext !== undefined) return showRunning(deps, visit, signedIn, application, plaintext);
    await redirectTo(visit, consolePath(organisation, `/quickstart/${application.id}`));
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    const text = messages.console.applicationSettings;
    const isName = error.faults.some(({ path }) => path === "name");
    const found = isName ? { name: text.faults.name } : { address: text.reasons.https };
    await rerender({ state: { faults: capitalize(found) }, status: 400 });
  }
}

/** These texts follow a colon elsewhere. */
const capitalize = (faults: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(faults).map(([id, text]) => [id, text.replace(/^./u, (letter) => letter.toUpperCase())]),
  );

function findFaults({ kind, address }: QuickstartInput, { console }: Messages): Record<string, string> {
  const { begin: text } = console.quickstart;
  if (!isApplicationKind(kind)) return { kind: text.kindFault };
  const isValid = !hasAddress(kind) || addressOf(address) !== undefined;
  return isValid ? {} : { address: text.addressFault };
}

/** @throws InvalidApplication */
function create(
  deps: RunningDeps,
  visit: Visit,
  form: OneTimeForm,
  { kind, name, address }: QuickstartInput & { kind: ApplicationKind },
): Promise<{ application: Application; plaintext?: string } | "duplicate-submission"> {
  const settings = hasAddress(kind) ? settingsAt(kind, addressOf(address) ?? "") : settingsOfKind(kind);
  const loopback = kind === "native" ? { redirectUris: ["http://127.0.0.1/callback"] } : {};
  const wanted = {
    ...auditContext(visit, form.signedIn),
    name,
    clientType: clientTypeOf[kind],
    settings: { ...settings, ...loopback },
  };
  const secretLabel = pageMessages(visit, form.signedIn).console.applications.secrets.firstLabel;
  return applyOnce(deps, form, async (inside) =>
    startsWithSecret(kind)
      ? createWithSecret(inside, { ...wanted, secretLabel })
      : { application: await createApplication(inside, wanted) },
  );
}

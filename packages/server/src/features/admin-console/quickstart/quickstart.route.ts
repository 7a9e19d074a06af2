/** quickstart: from nothing to a running client in one form (specification, "Management UI"). */
import type { FastifyInstance } from "fastify";
import {
  type ApplicationKind,
  addressOf,
  applicationKinds,
  hasAddress,
  isApplicationKind,
  settingsAt,
} from "../../../core/applications/kinds.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { isStackName, type StackName } from "../../../core/stacks/stacks.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { radioField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { createOnce, duplicateCreation, initialSettings } from "../applications/create-application.ts";
import { explainFaults } from "./explain-faults.ts";
import { type RunningDeps, runningRoutes, showRunning } from "./running.route.ts";
import { createForStack, showStackForm, stackGallery } from "./stack-form.ts";
import { type InspectorDeps, tokenInspectorRoute } from "./token-inspector.route.ts";

export function quickstartRoutes(app: FastifyInstance, deps: RunningDeps & InspectorDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart", { get: showQuickstart, post: createFromForm });
  tokenInspectorRoute(app, deps);
  runningRoutes(app, deps);
}

type QuickstartInput = { kind: string; name: string; address: string };

const pathFor = ({ organisation }: Visit, stack?: StackName): string =>
  consolePath(organisation, `/quickstart${stack === undefined ? "" : `?for=${stack}`}`);

async function showQuickstart(deps: RunningDeps, visit: Visit): Promise<void> {
  const requested = parseQuery(visit.request).values.get("for");
  const stack = isStackName(requested) ? requested : undefined;
  const signedIn = await requireRecentAuthentication(deps, visit, pathFor(visit, stack));
  if (stack !== undefined) return showStackForm(deps, visit, signedIn, stack);
  const input = { kind: "web", name: "", address: "http://localhost:3000" };
  await showFormPage(deps, visit, signedIn, "quickstart", { input }, quickstartPage);
}

function quickstartPage(view: FormView<QuickstartInput>): Html {
  const { messages, consoleUri } = view;
  const { begin, inspector } = messages.console.quickstart;
  const labels = { kind: begin.kind, name: begin.name, address: begin.address };
  const form = recordForm({
    ...view,
    id: "quickstart-form",
    fields: quickstartFields(view, labels),
    submit: { id: "quickstart-create", label: begin.submit },
  });
  const open = buttonLink({
    id: "quickstart-inspector",
    uri: consoleUri("/quickstart/token-inspector"),
    label: inspector.open,
  });
  return consoleLayout({
    ...view,
    breadcrumbs: [],
    title: messages.console.frame.pages.quickstart,
    summary: begin.summary,
    notice: formNotice({ ...view, labels }),
    body: [
      stackGallery(view),
      card({ id: "begin", title: begin.title, body: form }),
      html`<p class="quiet">${begin.signed} <a id="quickstart-system-account" href="${linkAddress(consoleUri("/system-accounts/new"))}">${begin.signedLink}</a></p>
`,
      card({
        id: "inspect",
        title: inspector.title,
        text: inspector.short,
        body: html`<div class="actions">${open}</div>
`,
      }),
    ],
  });
}

function quickstartFields(view: FormView<QuickstartInput>, labels: QuickstartInput): Content {
  const { applications, quickstart } = view.messages.console;
  const { kinds, kindTexts } = applications;
  const field = fieldsOf(view, labels);
  return [
    radioField({
      ...field("kind"),
      choices: applicationKinds.map((value) => ({ value, label: kinds[value], text: kindTexts[value] })),
    }),
    textField({ ...field("name"), hint: quickstart.begin.nameHint, maxLength: 100, isRequired: true }),
    textField({ ...field("address"), hint: quickstart.begin.addressHint, isCode: true }),
  ];
}

const MAX_LETTERS = 2_048;

const readInput = (values: ReadonlyMap<string, string>): QuickstartInput => ({
  kind: values.get("kind") ?? "",
  name: (values.get("name") ?? "").trim().slice(0, MAX_LETTERS),
  address: (values.get("address") ?? "").trim().slice(0, MAX_LETTERS),
});

async function createFromForm(deps: RunningDeps, visit: Visit): Promise<void> {
  const sentStack = parsedForm(visit.request).values.get("for");
  const stack = isStackName(sentStack) ? sentStack : undefined;
  const form = await acceptOneTimeForm(deps, visit, pathFor(visit, stack));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readInput(form.values);
  const { kind, name, address } = input;
  if (stack !== undefined) {
    if (form.outcome === "accepted") return createForStack(deps, visit, form, stack, { name, address });
    return showStackForm(deps, visit, signedIn, stack, { input: { name, address }, ...form.refusal });
  }
  const rerender = (shown: Partial<FormShown<QuickstartInput>>) =>
    showFormPage(deps, visit, signedIn, "quickstart", { input, ...shown }, quickstartPage);
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const { begin: text } = messages.console.quickstart;
  if (!isApplicationKind(kind)) return rerender({ state: { faults: { kind: text.kindFault } }, status: 400 });
  const settings = findSettings(kind, address);
  if (!settings) return rerender({ state: { faults: { address: text.addressFault } }, status: 400 });
  try {
    const created = await createOnce(deps, visit, form, kind, { name, settings });
    if (created === "duplicate-submission") return rerender(duplicateCreation(visit, signedIn, kind));
    const { application, plaintext } = created;
    if (plaintext !== undefined)
      return showRunning(deps, visit, signedIn, application, { secret: plaintext });
    await redirectTo(visit, consolePath(visit.organisation, `/quickstart/${application.id}`));
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    await rerender({ state: { faults: explainFaults(error, messages) }, status: 400 });
  }
}

/** @returns undefined for an invalid address */
function findSettings(kind: ApplicationKind, address: string) {
  if (!hasAddress(kind)) return initialSettings(kind);
  const origin = addressOf(address);
  return origin === undefined ? undefined : settingsAt(kind, origin);
}

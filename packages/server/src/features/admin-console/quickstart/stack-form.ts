/** quickstart?for={stack}: registers an application with the settings that a library or product needs. */
import type { Application } from "../../../core/applications/application.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createWithSecret } from "../../../core/applications/client-secrets.ts";
import { addressOf } from "../../../core/applications/kinds.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { type Stack, settingsOfStack, usesAddress } from "../../../core/stacks/stack.ts";
import { createMissingScopes } from "../../../core/stacks/stack-scopes.ts";
import { type StackName, stackNames, stacks } from "../../../core/stacks/stacks.ts";
import { card } from "../../../html/components/card.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { applyOnce, type OneTimeForm } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import { auditContext, consolePath, redirectTo, type Visit } from "../../../page-kit/page.ts";
import { duplicateCreation } from "../applications/create-application.ts";
import { explainFaults } from "./explain-faults.ts";
import { type RunningDeps, showRunning } from "./running.route.ts";

/** Links to the form of each stack. */
export function stackGallery({ messages, consoleUri }: Pick<ConsoleFrame, "messages" | "consoleUri">): Html {
  const { stacks: text } = messages.console.quickstart;
  const link = (name: StackName) =>
    html`<li><a id="for-${name}" href="${linkAddress(consoleUri(`/quickstart?for=${name}`))}">${stacks[name].title}</a></li>
`;
  return card({
    id: "stacks",
    title: text.title,
    text: text.text,
    body: html`<ul class="gallery">
${stackNames.map(link)}</ul>
`,
  });
}

type StackInput = { name: string; address: string };

export async function showStackForm(
  deps: RunningDeps,
  visit: Visit,
  signedIn: SignedIn,
  name: StackName,
  shown?: FormShown<StackInput>,
): Promise<void> {
  const stack: Stack = stacks[name];
  const input = { name: "", address: stack.address };
  await showFormPage(deps, visit, signedIn, "quickstart", shown ?? { input }, (view) =>
    stackFormPage(view, name, stack),
  );
}

function stackFormPage(view: FormView<StackInput>, name: StackName, stack: Stack): Html {
  const { messages, consoleUri } = view;
  const { begin, stacks: text } = messages.console.quickstart;
  const labels = { name: begin.name, address: begin.address };
  const field = fieldsOf(view, labels);
  return formPage({
    ...view,
    breadcrumbs: [{ label: messages.console.frame.pages.quickstart, uri: consoleUri("/quickstart") }],
    title: stack.title,
    summary: text.summary({ stack: stack.title }),
    cardLabel: stack.title,
    id: "stack-form",
    labels,
    hidden: [{ name: "for", value: name }],
    fields: [
      textField({ ...field("name"), hint: begin.nameHint, maxLength: 100, isRequired: true }),
      usesAddress(stack) &&
        textField({ ...field("address"), hint: text.addressHint, isCode: true, isRequired: true }),
    ],
    submit: { id: "stack-create", label: text.submit },
    cancelUri: consoleUri("/quickstart"),
  });
}

type SentStackForm = OneTimeForm & { readonly signedIn: SignedIn };

/** The rest of an accepted form: creates the application once and shows its settings. */
export async function createForStack(
  deps: RunningDeps,
  visit: Visit,
  form: SentStackForm,
  name: StackName,
  input: StackInput,
): Promise<void> {
  const { signedIn } = form;
  const stack: Stack = stacks[name];
  const rerender = (shown: Partial<FormShown<StackInput>>) =>
    showStackForm(deps, visit, signedIn, name, { input, ...shown });
  const messages = pageMessages(visit, signedIn);
  const address = usesAddress(stack) ? addressOf(input.address) : stack.address;
  if (address === undefined) {
    const faults = { address: messages.console.quickstart.begin.addressFault };
    return rerender({ state: { faults }, status: 400 });
  }
  try {
    const content = { name: input.name, settings: settingsOfStack(stack, address) };
    const created = await createOnce(deps, visit, form, stack, content);
    if (created === "duplicate-submission")
      return rerender(
        duplicateCreation(visit, signedIn, stack.clientType === "confidential" ? "web" : "spa"),
      );
    const { application, plaintext } = created;
    if (plaintext !== undefined)
      return showRunning(deps, visit, signedIn, application, { secret: plaintext, stack: name });
    await redirectTo(visit, consolePath(visit.organisation, `/quickstart/${application.id}?for=${name}`));
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    await rerender({ state: { faults: explainFaults(error, messages) }, status: 400 });
  }
}

function createOnce(
  deps: RunningDeps,
  visit: Visit,
  form: SentStackForm,
  { clientType, scopes }: Stack,
  content: { name: string; settings: ReturnType<typeof settingsOfStack> },
): Promise<{ application: Application; plaintext?: string } | "duplicate-submission"> {
  const by = auditContext(visit, form.signedIn);
  const { firstLabel: secretLabel } = pageMessages(visit, form.signedIn).console.applications.secrets;
  return applyOnce(deps, form, async (inside) => {
    await createMissingScopes(inside, scopes, by);
    const input = { ...by, ...content, clientType };
    return clientType === "confidential"
      ? createWithSecret(inside, { ...input, secretLabel })
      : { application: await createApplication(inside, input) };
  });
}

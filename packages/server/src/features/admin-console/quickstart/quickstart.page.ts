import { type ApplicationKind, applicationKinds } from "../../../core/applications/kinds.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { radioField, textField } from "../../../html/components/fields.ts";
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { buttonLink, card } from "../../../html/components/parts.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

export type TypedQuickstart = { kind: string; name: string; address: string };

export type QuickstartView = ConsoleFrame & {
  action: string;
  csrf: string;
  once: string;
  typed: TypedQuickstart;
  form: FormState;
  failure?: FormFailure | undefined;
  systemAccountUri: string;
  inspectorUri: string;
};

export function quickstartPage(view: QuickstartView): Html {
  const { messages, form } = view;
  const { begin } = messages.console.quickstart;
  const label = (id: string) => (id === "kind" || id === "name" ? begin[id] : begin.address);
  const begun = recordForm({
    id: "quickstart-form",
    action: view.action,
    csrf: view.csrf,
    once: view.once,
    fields: [kindField(view), ...textFields(view)],
    submit: { id: "quickstart-create", label: begin.submit },
    messages,
  });
  return consoleLayout({
    ...view,
    breadcrumbs: [],
    title: messages.console.frame.pages.quickstart,
    summary: begin.summary,
    notice: failureNotice(view.failure ?? faultsFailure(form, label), messages),
    body: html`${card({ id: "begin", title: begin.title, body: begun })}<p class="quiet">${begin.signed} <a id="quickstart-system-account" href="${linkAddress(view.systemAccountUri)}">${begin.signedLink}</a></p>
${inspectorCard(view)}`,
  });
}

function inspectorCard({ messages, inspectorUri }: QuickstartView): Html {
  const { inspector } = messages.console.quickstart;
  const open = buttonLink({ id: "quickstart-inspector", uri: inspectorUri, label: inspector.open });
  return card({
    id: "inspect",
    title: inspector.title,
    text: inspector.short,
    body: html`<div class="actions">${open}</div>
`,
  });
}

function kindField({ messages, typed, form }: QuickstartView): Html {
  const { applications, quickstart } = messages.console;
  const { kinds, kindTexts } = applications;
  const choice = (kind: ApplicationKind) => ({ value: kind, label: kinds[kind], text: kindTexts[kind] });
  const choices = applicationKinds.map(choice);
  const label = quickstart.begin.kind;
  return radioField({ id: "kind", label, value: typed.kind, choices, messages, ...fieldState(form, "kind") });
}

function textFields({ messages, typed, form }: QuickstartView): Html[] {
  const { begin } = messages.console.quickstart;
  return [
    textField({
      id: "name",
      label: begin.name,
      hint: begin.nameHint,
      value: typed.name,
      maxLength: 100,
      isRequired: true,
      messages,
      ...fieldState(form, "name"),
    }),
    textField({
      id: "address",
      label: begin.address,
      hint: begin.addressHint,
      value: typed.address,
      isCode: true,
      messages,
      ...fieldState(form, "address"),
    }),
  ];
}

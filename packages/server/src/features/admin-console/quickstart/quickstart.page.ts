import { type ApplicationKind, applicationKinds } from "../../../core/applications/kinds.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { radioField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { buttonLink, card } from "../../../html/components/parts.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

export type QuickstartInput = { kind: string; name: string; address: string };

export type QuickstartView = FormView<QuickstartInput>;

export function quickstartPage(view: QuickstartView): Html {
  const { messages, state } = view;
  const { begin } = messages.console.quickstart;
  const label = (id: string) => (id === "kind" || id === "name" ? begin[id] : begin.address);
  const form = recordForm({
    ...view,
    id: "quickstart-form",
    fields: [kindField(view), ...textFields(view)],
    submit: { id: "quickstart-create", label: begin.submit },
  });
  return consoleLayout({
    ...view,
    breadcrumbs: [],
    title: messages.console.frame.pages.quickstart,
    summary: begin.summary,
    notice: failureNotice(view.failure ?? faultsFailure(state, label), messages),
    body: html`${card({ id: "begin", title: begin.title, body: form })}<p class="quiet">${begin.signed} <a id="quickstart-system-account" href="${linkAddress(view.consoleUri("/system-accounts/new"))}">${begin.signedLink}</a></p>
${inspectorCard(view)}`,
  });
}

function inspectorCard({ messages, consoleUri }: QuickstartView): Html {
  const { inspector } = messages.console.quickstart;
  const open = buttonLink({
    id: "quickstart-inspector",
    uri: consoleUri("/quickstart/token-inspector"),
    label: inspector.open,
  });
  return card({
    id: "inspect",
    title: inspector.title,
    text: inspector.short,
    body: html`<div class="actions">${open}</div>
`,
  });
}

function kindField({ messages, input, state }: QuickstartView): Html {
  const { applications, quickstart } = messages.console;
  const { kinds, kindTexts } = applications;
  const choice = (kind: ApplicationKind) => ({ value: kind, label: kinds[kind], text: kindTexts[kind] });
  const choices = applicationKinds.map(choice);
  const label = quickstart.begin.kind;
  return radioField({
    id: "kind",
    label,
    value: input.kind,
    choices,
    messages,
    ...fieldState(state, "kind"),
  });
}

function textFields({ messages, input, state }: QuickstartView): Html[] {
  const { begin } = messages.console.quickstart;
  return [
    textField({
      id: "name",
      label: begin.name,
      hint: begin.nameHint,
      value: input.name,
      maxLength: 100,
      isRequired: true,
      messages,
      ...fieldState(state, "name"),
    }),
    textField({
      id: "address",
      label: begin.address,
      hint: begin.addressHint,
      value: input.address,
      isCode: true,
      messages,
      ...fieldState(state, "address"),
    }),
  ];
}

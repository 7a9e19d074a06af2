import { type ApplicationKind, applicationKinds } from "../../../core/applications/kinds.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { type FormView, faultsFailure } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { checksScript } from "../../../html/scripts.ts";
import { type FieldSource, settingField } from "./setting-field.ts";
import type { SettingId } from "./setting-fields.ts";
import type { SettingsInput } from "./settings-input.ts";

type Crumbs = Pick<ConsoleView, "breadcrumbs">;

/** The kinds of applications, each with what it is for. */
export function chooseKindPage(view: ConsoleFrame & Crumbs & { uriOf(kind: ApplicationKind): string }): Html {
  const { choose, kinds, kindTexts } = view.messages.console.applications;
  const kindCard = (kind: ApplicationKind) =>
    choiceCard({ id: `kind-${kind}`, uri: view.uriOf(kind), title: kinds[kind], text: kindTexts[kind] });
  return consoleLayout({
    ...view,
    title: choose.title,
    summary: choose.summary,
    body: html`<ul class="choices">
${applicationKinds.map(kindCard)}${choiceCard({
  id: "kind-system-account",
  uri: view.consoleUri("/system-accounts/new"),
  title: choose.systemAccount,
  text: choose.systemAccountText,
})}</ul>
`,
  });
}

/** The whole card is the link's target. */
const choiceCard = (view: { id: string; uri: string; title: string; text: string }): Html =>
  html`<li class="choice"><a id="${view.id}" href="${linkAddress(view.uri)}">${view.title}</a><p class="quiet">${view.text}</p></li>
`;

export type NewApplicationView = FormView<SettingsInput> &
  Crumbs &
  FieldSource & {
    kind: ApplicationKind;
    fields: readonly SettingId[];
  };

export function newApplicationPage(view: NewApplicationView): Html {
  const { messages, kind } = view;
  const { create, kinds, kindTexts } = messages.console.applications;
  const { fields } = messages.console.applicationSettings;
  const failure = view.failure ?? faultsFailure(view.state, (id) => fields[id as SettingId].label);
  return consoleLayout({
    ...view,
    title: kinds[kind],
    summary: kindTexts[kind],
    notice: failureNotice(failure, messages),
    scripts: [checksScript.path],
    body: html`<section class="card" aria-label="${kinds[kind]}">
${recordForm({
  ...view,
  id: "application-form",
  cancelUri: view.consoleUri("/applications"),
  hidden: [{ name: "kind", value: kind }],
  fields: view.fields.map((field) => settingField(field, view)),
  submit: { id: "application-create", label: create.submit },
})}<p class="quiet">${create.later}</p>
</section>
`,
  });
}

/** The pages of a new application: the choice of its kind, then the short form. */
import { type ApplicationKind, applicationKinds } from "../../../core/applications/kinds.ts";
import { choiceCard, choiceList } from "../../../html/components/choice-card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { formPage } from "../../../html/components/form-page.ts";
import { type FormView, fieldState } from "../../../html/components/form-state.ts";
import type { IconName } from "../../../html/components/icons.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { checksScript } from "../../../html/scripts.ts";
import { applicationPages } from "./application-pages.ts";
import { type FieldSource, settingField } from "./setting-field.ts";
import { controls, type SettingId } from "./setting-fields.ts";
import type { SettingsInput } from "./settings-input.ts";

const kindIcons: Readonly<Record<ApplicationKind, IconName>> = {
  ...{ web: "browser", spa: "code", native: "phone" },
  ...{ service: "server", device: "screen", legacy: "key" },
};

/** The kinds of applications, each with what it is for. */
export function chooseKindPage(frame: ConsoleFrame): Html {
  const { choose, kinds, kindTexts } = frame.messages.console.applications;
  const kindCard = (kind: ApplicationKind) =>
    choiceCard({
      id: `kind-${kind}`,
      uri: frame.consoleUri(`/applications/new?kind=${kind}`),
      title: kinds[kind],
      text: kindTexts[kind],
      mark: kindIcons[kind],
    });
  return consoleLayout({
    ...frame,
    breadcrumbs: applicationPages.listCrumbs(frame),
    title: choose.title,
    summary: choose.summary,
    body: choiceList([
      ...applicationKinds.map(kindCard),
      choiceCard({
        id: "kind-system-account",
        uri: frame.consoleUri("/system-accounts/new"),
        title: choose.systemAccount,
        text: choose.systemAccountText,
        mark: "account",
      }),
    ]),
  });
}

export type NewApplicationView = FormView<SettingsInput> &
  FieldSource & {
    kind: ApplicationKind;
    fields: readonly SettingId[];
  };

export function newApplicationPage(view: NewApplicationView): Html {
  const { messages, kind } = view;
  const { choose, create, kinds, kindTexts } = messages.console.applications;
  const { fields } = messages.console.applicationSettings;
  return formPage({
    ...view,
    breadcrumbs: [
      ...applicationPages.listCrumbs(view),
      { label: choose.title, uri: view.consoleUri("/applications/new") },
    ],
    title: kinds[kind],
    summary: kindTexts[kind],
    scripts: [checksScript.path],
    cardLabel: kinds[kind],
    id: "application-form",
    labels: Object.fromEntries(view.fields.map((id) => [id, fields[id].label])),
    hidden: [{ name: "kind", value: kind }],
    fields: view.fields.map((field) => initialField(field, view)),
    submit: { id: "application-create", label: create.submit },
    cancelUri: view.consoleUri("/applications"),
    below: html`<p class="quiet">${create.later}</p>
`,
  });
}

/** A list begins with one address: the URLs tab takes more of them. */
function initialField(id: SettingId, view: NewApplicationView): Content {
  const control = controls[id];
  if (control.kind !== "uris") return settingField(id, view);
  const { label } = view.messages.console.applicationSettings.fields[id];
  return textField({
    ...{ id, label, hint: view.messages.console.applications.create.firstUri, messages: view.messages },
    ...fieldState(view.state, id),
    value: view.input[id] ?? "",
    isCode: true,
    ...(control.check && { check: { uri: view.checkUri(control.check) } }),
  });
}

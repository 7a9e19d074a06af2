import type { Application } from "../../../core/applications/application.ts";
import { type ConsoleView, consoleLayout } from "../../../html/components/console-layout.ts";
import { type FormView, faultsFailure } from "../../../html/components/form-state.ts";
import { card } from "../../../html/components/parts.ts";
import { failureNotice, lastChangeLine, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { checksScript } from "../../../html/scripts.ts";
import { type FieldSource, settingField } from "./setting-field.ts";
import { applicationCards, type SettingId } from "./setting-fields.ts";
import type { SettingsInput } from "./settings-input.ts";

export type SettingsView = FormView<SettingsInput> &
  Pick<ConsoleView, "breadcrumbs"> &
  FieldSource & {
    application: Pick<Application, "id" | "name" | "clientType">;
    lastChange: { who: string; at: number } | undefined;
  };

export function settingsPage(view: SettingsView): Html {
  const { messages, application } = view;
  const text = messages.console.applicationSettings;
  const failure = view.failure ?? faultsFailure(view.state, (id) => text.fields[id as SettingId].label);
  const cards = applicationCards(application);
  return consoleLayout({
    ...view,
    title: text.title({ application: application.name }),
    heading: text.heading,
    summary: text.summary,
    notice: failureNotice(failure, messages),
    scripts: [checksScript.path],
    body: html`<div class="with-aside"><div class="with-aside-main">
${recordForm({
  ...view,
  id: "settings-form",
  cancelUri: view.consoleUri(`/applications/${application.id}`),
  fields: cards.map(([id, fields]) =>
    card({
      id: `card-${id}`,
      ...text.cards[id],
      body: html`<div class="fields">${fields.map((field) => settingField(field, view))}</div>
`,
    }),
  ),
  submit: { id: "settings-save", label: messages.console.frame.form.save },
})}${lastChangeLine(view.lastChange, messages)}</div>
<div class="with-aside-beside"><nav class="jump" aria-label="${text.jump}"><ul>${cards.map(
      ([id]) => html`<li><a href="#card-${id}-title">${text.cards[id].title}</a></li>
`,
    )}</ul></nav></div></div>
`,
  });
}

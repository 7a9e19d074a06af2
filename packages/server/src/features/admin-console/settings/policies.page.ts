import { secondFactorPolicies } from "../../../core/organisations/organisation.ts";
import { settingRanges } from "../../../core/organisations/settings-validation.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, fieldRow, radioField, selectField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { languageChoices } from "./settings.page.ts";

/** Times in minutes. */
export type PoliciesInput = {
  passwordMinLength: string;
  secondFactor: string;
  requireVerifiedEmail: boolean;
  allowAccountDeletion: boolean;
  sessionLifetimeSeconds: string;
  sessionIdleSeconds: string;
  defaultLocale: string;
};

export type PoliciesView = FormView<PoliciesInput>;

/** In the order of the page. */
const policyLabels = ({
  console: { settings: text },
}: Messages): Readonly<Record<keyof PoliciesInput, string>> => ({
  passwordMinLength: text.passwordMinLength,
  secondFactor: text.secondFactor,
  requireVerifiedEmail: text.verifiedEmail,
  allowAccountDeletion: text.accountDeletion,
  sessionLifetimeSeconds: text.sessionLifetime,
  sessionIdleSeconds: text.sessionIdle,
  defaultLocale: text.language,
});

export function policiesPage(view: PoliciesView): Html {
  const { messages, state: form } = view;
  const { frame, settings: text } = messages.console;
  const settingsUri = view.consoleUri("/settings");
  const labels: Readonly<Record<string, string>> = policyLabels(messages);
  return consoleLayout({
    ...view,
    title: text.policiesTitle,
    summary: text.policiesText,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    notice: failureNotice(view.failure ?? faultsFailure(form, (id) => labels[id] ?? id), messages),
    body: html`<section class="card">${recordForm({
      ...view,
      id: "policies-form",
      fields: [signInFields(view), sessionFields(view)],
      submit: { id: "policies-save", label: text.save },
      cancelUri: settingsUri,
      messages,
    })}</section>
`,
  });
}

function signInFields({ input, state: form, messages }: PoliciesView): Html {
  const { settings: text } = messages.console;
  const { least, most } = settingRanges.passwordMinLength;
  return html`${textField({
    id: "passwordMinLength",
    label: text.passwordMinLength,
    hint: text.passwordHint,
    type: "number",
    min: least,
    max: most,
    unit: text.characters,
    value: input.passwordMinLength,
    ...fieldState(form, "passwordMinLength"),
    messages,
  })}${radioField({
    id: "secondFactor",
    label: text.secondFactor,
    value: input.secondFactor,
    choices: secondFactorPolicies.map((value) => ({ value, ...text.secondFactors[value] })),
    ...fieldState(form, "secondFactor"),
    messages,
  })}${checkField({
    id: "requireVerifiedEmail",
    label: text.verifiedEmailLabel,
    hint: text.verifiedEmailHint,
    isChecked: input.requireVerifiedEmail,
    ...fieldState(form, "requireVerifiedEmail"),
    messages,
  })}${checkField({
    id: "allowAccountDeletion",
    label: text.accountDeletionLabel,
    hint: text.accountDeletionHint,
    isChecked: input.allowAccountDeletion,
    ...fieldState(form, "allowAccountDeletion"),
    messages,
  })}`;
}

function sessionFields({ input, state: form, messages }: PoliciesView): Html {
  const { settings: text } = messages.console;
  const minutes = (id: "sessionLifetimeSeconds" | "sessionIdleSeconds", label: string, hint: string) =>
    textField({
      id,
      label,
      hint,
      type: "number",
      min: settingRanges[id].least / 60,
      max: settingRanges[id].most / 60,
      unit: text.minutes,
      value: input[id],
      ...fieldState(form, id),
      messages,
    });
  return html`${fieldRow(
    minutes("sessionLifetimeSeconds", text.sessionLifetime, text.sessionLifetimeHint),
    minutes("sessionIdleSeconds", text.sessionIdle, text.sessionIdleHint),
  )}${selectField({
    id: "defaultLocale",
    label: text.language,
    hint: text.languageHint,
    value: input.defaultLocale,
    choices: languageChoices,
    ...fieldState(form, "defaultLocale"),
    messages,
  })}`;
}

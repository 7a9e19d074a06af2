/** The form of sign-in policies. */
import { secondFactorPolicies } from "../../../core/organisations/organisation.ts";
import { settingRanges } from "../../../core/organisations/settings-validation.ts";
import { durationInput, toDurationText } from "../../../html/components/duration-input.ts";
import { checkField, fieldRow, radioField, selectField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Content, Html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";

/** Times in seconds, or as they were typed when they are no whole number. */
export type PoliciesInput = {
  passwordMinLength: string;
  secondFactor: string;
  requireVerifiedEmail: boolean;
  allowAccountDeletion: boolean;
  requirePushedAuthorizationRequests: boolean;
  sessionLifetimeSeconds: string;
  sessionIdleSeconds: string;
  defaultLocale: string;
  auditRetentionMonths: string;
};

export function policiesPage(view: FormView<PoliciesInput>): Html {
  const { frame, settings: text } = view.messages.console;
  const settingsUri = view.consoleUri("/settings");
  return formPage({
    ...view,
    title: text.policiesTitle,
    summary: text.policiesText,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    id: "policies-form",
    labels: policyLabels(text),
    fields: policyFields(view),
    submit: { id: "policies-save", label: text.save },
    cancelUri: settingsUri,
  });
}

/** In the order of the page. */
const policyLabels = (
  text: Messages["console"]["settings"],
): Readonly<Record<keyof PoliciesInput, string>> => ({
  passwordMinLength: text.passwordMinLength,
  secondFactor: text.secondFactor,
  requireVerifiedEmail: text.verifiedEmail,
  allowAccountDeletion: text.accountDeletion,
  requirePushedAuthorizationRequests: text.pushedRequests,
  sessionLifetimeSeconds: text.sessionLifetime,
  sessionIdleSeconds: text.sessionIdle,
  defaultLocale: text.language,
  auditRetentionMonths: text.auditRetention,
});

function policyFields(view: FormView<PoliciesInput>): Content {
  const { input, messages } = view;
  const { settings: text } = messages.console;
  const field = fieldsOf(view, policyLabels(text));
  const { least: min, most: max } = settingRanges.passwordMinLength;
  const duration = (id: "sessionLifetimeSeconds" | "sessionIdleSeconds", hint: string) => {
    const { value, ...common } = field(id);
    const isSeconds = /^\d{1,12}$/.test(value);
    return durationInput({
      ...common,
      hint,
      value: isSeconds ? toDurationText(Number(value)) : { amount: value, unit: "minutes" },
    });
  };
  const languages = LOCALES.map((value) => ({ value, label: languageName(value) }));
  return [
    textField({
      ...field("passwordMinLength"),
      ...{ hint: text.passwordHint, type: "number", min, max, unit: text.characters },
    }),
    radioField({
      ...field("secondFactor"),
      choices: secondFactorPolicies.map((value) => ({ value, ...text.secondFactors[value] })),
    }),
    checkField({
      ...field("requireVerifiedEmail"),
      ...{ label: text.verifiedEmailLabel, legend: text.verifiedEmail },
      hint: text.verifiedEmailHint,
      isChecked: input.requireVerifiedEmail,
    }),
    checkField({
      ...field("allowAccountDeletion"),
      ...{ label: text.accountDeletionLabel, legend: text.accountDeletion },
      hint: text.accountDeletionHint,
      isChecked: input.allowAccountDeletion,
    }),
    checkField({
      ...field("requirePushedAuthorizationRequests"),
      ...{ label: text.pushedRequestsLabel, legend: text.pushedRequests },
      hint: text.pushedRequestsHint,
      isChecked: input.requirePushedAuthorizationRequests,
    }),
    fieldRow(
      duration("sessionLifetimeSeconds", text.sessionLifetimeHint),
      duration("sessionIdleSeconds", text.sessionIdleHint),
    ),
    selectField({ ...field("defaultLocale"), hint: text.languageHint, choices: languages }),
    textField({
      ...field("auditRetentionMonths"),
      ...{ hint: text.auditRetentionHint, type: "number", unit: text.months },
      ...{ min: settingRanges.auditRetentionMonths.least, max: settingRanges.auditRetentionMonths.most },
    }),
  ];
}

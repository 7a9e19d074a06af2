import type { Role } from "../../../core/users/user.ts";
import { type ConsoleView, consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, fieldRow, radioField, selectField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { roles } from "./list.page.ts";

export type UserInput = {
  email: string;
  firstname: string;
  surname: string;
  role: Role;
  /** Empty: the browser's. */
  locale: string;
  how: "mail" | "password";
  isKnown: boolean;
};

export type NewUserView = FormView<UserInput> & Pick<ConsoleView, "breadcrumbs"> & { canMail: boolean };

export function newUserPage(view: NewUserView): Html {
  const { messages, canMail } = view;
  const { create: text } = messages.console.users;
  const failure = view.failure ?? faultsFailure(view.state, (id) => fieldLabel(id, messages));
  const noMail = html`<div class="notice hint" id="no-mail"><p class="notice-title">${text.noMail}</p>
<p>${text.noMailText}</p></div>
`;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: canMail ? text.summary : text.summaryNoMail,
    notice: failureNotice(failure, messages) ?? (canMail ? undefined : noMail),
    body: html`<section class="card" aria-label="${text.title}">${recordForm({
      ...view,
      id: "user-form",
      cancelUri: view.consoleUri("/users"),
      fields: fields(view),
      submit: { id: "user-create", label: text.submit },
    })}</section>
`,
  });
}

function fieldLabel(id: string, { console: { users } }: Messages): string {
  const { profile, create } = users;
  const labels: Readonly<Record<string, string>> = {
    email: create.email,
    firstname: profile.firstname,
    surname: profile.surname,
  };
  return labels[id] ?? id;
}

function fields({ input, state, canMail, messages }: NewUserView) {
  const { create: text, profile, roles: roleNames } = messages.console.users;
  const field = (id: string, label: string) => ({ id, label, messages, ...fieldState(state, id) });
  const isFirst = Object.keys(state.faults ?? {}).length === 0;
  return [
    textField({
      ...field("email", text.email),
      type: "email",
      value: input.email,
      maxLength: 254,
      isRequired: true,
      ...(isFirst ? { hasFocus: true } : {}),
    }),
    fieldRow(
      textField({ ...field("firstname", profile.firstname), value: input.firstname, maxLength: 100 }),
      textField({ ...field("surname", profile.surname), value: input.surname, maxLength: 100 }),
    ),
    selectField({
      ...field("locale", text.language),
      hint: text.languageHint,
      value: input.locale,
      choices: languageChoices(messages),
    }),
    radioField({
      ...field("role", text.role),
      value: input.role,
      choices: roles.map((value) => ({ value, label: roleNames[value], text: text.roleTexts[value] })),
    }),
    canMail &&
      radioField({
        ...field("how", text.how),
        value: input.how,
        choices: [
          { value: "mail", label: text.byMail, text: text.byMailText },
          { value: "password", label: text.byPassword, text: text.byPasswordText },
        ],
      }),
    checkField({
      ...field("emailKnown", text.emailKnown),
      hint: text.emailKnownHint,
      isChecked: input.isKnown,
    }),
  ];
}

/** Each in its own language. */
export const languageChoices = ({ console: { users } }: Messages) => [
  { value: "", label: users.profile.anyLanguage },
  ...LOCALES.map((locale) => ({ value: locale, label: languageName(locale) })),
];

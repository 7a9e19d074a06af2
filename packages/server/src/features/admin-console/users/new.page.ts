import type { Role } from "../../../core/users/user.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { checkField, fieldRow, radioField, selectField, textField } from "../../../html/components/fields.ts";
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { roles } from "./list.page.ts";

export type TypedUser = {
  email: string;
  firstname: string;
  surname: string;
  role: Role;
  /** Empty: as their browser asks. */
  locale: string;
  how: "mail" | "password";
  isKnown: boolean;
};

export type NewUserView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    typed: TypedUser;
    state: FormState;
    failure: FormFailure | undefined;
    canMail: boolean;
    csrf: string;
    once: string;
    action: string;
    cancelUri: string;
  };

export function newUserPage(view: NewUserView): Html {
  const { messages, canMail } = view;
  const { create: text } = messages.console.users;
  const failure = view.failure ?? faultsFailure(view.state, (id) => labelOf(id, messages));
  const noMail = html`<div class="notice hint" id="no-mail"><p class="notice-title">${text.noMail}</p>
<p>${text.noMailText}</p></div>
`;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: canMail ? text.summary : text.summaryNoMail,
    notice: failureNotice(failure, messages) ?? (canMail ? undefined : noMail),
    body: html`<section class="card" aria-label="${text.title}">${recordForm({
      id: "user-form",
      action: view.action,
      csrf: view.csrf,
      once: view.once,
      fields: fields(view),
      submit: { id: "user-create", label: text.submit },
      cancelUri: view.cancelUri,
      messages,
    })}</section>
`,
  });
}

function labelOf(id: string, { console: { users } }: Messages): string {
  const { profile, create } = users;
  const labels: Readonly<Record<string, string>> = {
    email: create.email,
    firstname: profile.firstname,
    surname: profile.surname,
  };
  return labels[id] ?? id;
}

function fields({ typed, state, canMail, messages }: NewUserView) {
  const { create: text, profile, roles: roleNames } = messages.console.users;
  const field = (id: string, label: string) => ({ id, label, messages, ...fieldState(state, id) });
  const isFirst = Object.keys(state.faults ?? {}).length === 0;
  return [
    textField({
      ...field("email", text.email),
      type: "email",
      value: typed.email,
      maxLength: 254,
      isRequired: true,
      ...(isFirst ? { hasFocus: true } : {}),
    }),
    fieldRow(
      textField({ ...field("firstname", profile.firstname), value: typed.firstname, maxLength: 100 }),
      textField({ ...field("surname", profile.surname), value: typed.surname, maxLength: 100 }),
    ),
    selectField({
      ...field("locale", text.language),
      hint: text.languageHint,
      value: typed.locale,
      choices: languageChoices(messages),
    }),
    radioField({
      ...field("role", text.role),
      value: typed.role,
      choices: roles.map((value) => ({ value, label: roleNames[value], text: text.roleTexts[value] })),
    }),
    canMail &&
      radioField({
        ...field("how", text.how),
        value: typed.how,
        choices: [
          { value: "mail", label: text.byMail, text: text.byMailText },
          { value: "password", label: text.byPassword, text: text.byPasswordText },
        ],
      }),
    checkField({
      ...field("emailKnown", text.emailKnown),
      hint: text.emailKnownHint,
      isChecked: typed.isKnown,
    }),
  ];
}

/** Each by its own name; an empty one is left to the browser. */
export const languageChoices = ({ console: { users } }: Messages) => [
  { value: "", label: users.profile.anyLanguage },
  ...LOCALES.map((locale) => ({ value: locale, label: languageName(locale) })),
];

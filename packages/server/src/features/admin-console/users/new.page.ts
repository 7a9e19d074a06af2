/** The form that invites a user. */
import type { Role } from "../../../core/users/user.ts";
import { banner } from "../../../html/components/banner.ts";
import { checkField, fieldRow, radioField, selectField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Content, Html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { memberPages, roles } from "./user-pages.ts";

export type UserInput = {
  email: string;
  firstname: string;
  surname: string;
  role: Role;
  /** Empty: the browser's. */
  locale: string;
  how: "mail" | "password";
  /** Of an invitation: where it is accepted. Empty: with a password, as ever. */
  connectionId: string;
  emailKnown: boolean;
};

/** An identity provider that users can sign in with. */
export interface Provider {
  readonly id: string;
  readonly name: string;
}

/** @param options.providers where an invitation may be accepted */
export function newUserPage(view: FormView<UserInput>, options: FormOptions): Html {
  const { canMail } = options;
  const { create: text, profile } = view.messages.console.users;
  const labels = {
    email: text.email,
    firstname: profile.firstname,
    surname: profile.surname,
    locale: text.language,
    role: text.role,
    how: text.how,
    connectionId: text.connection,
    emailKnown: text.emailKnown,
  };
  const noMail = banner("hint", "no-mail", text.noMail, text.noMailText);
  return formPage({
    ...view,
    breadcrumbs: memberPages.listCrumbs(view),
    title: text.title,
    summary: canMail ? text.summary : text.summaryNoMail,
    notice: canMail ? undefined : noMail,
    cardLabel: text.title,
    id: "user-form",
    labels,
    fields: userFields(view, labels, options),
    submit: { id: "user-create", label: text.submit },
    cancelUri: view.consoleUri("/users"),
  });
}

interface FormOptions {
  readonly canMail: boolean;
  readonly providers: readonly Provider[];
}

function userFields(
  view: FormView<UserInput>,
  labels: Readonly<Record<keyof UserInput, string>>,
  { canMail, providers }: FormOptions,
): Content {
  const { create: text, roles: roleNames } = view.messages.console.users;
  const field = fieldsOf(view, labels);
  const isFirst = Object.keys(view.state.faults ?? {}).length === 0;
  return [
    textField({
      ...field("email"),
      type: "email",
      maxLength: 254,
      isRequired: true,
      ...(isFirst ? { hasFocus: true } : {}),
    }),
    fieldRow(
      textField({ ...field("firstname"), maxLength: 100 }),
      textField({ ...field("surname"), maxLength: 100 }),
    ),
    selectField({ ...field("locale"), hint: text.languageHint, choices: languageChoices(view.messages) }),
    radioField({
      ...field("role"),
      choices: roles.map((value) => ({ value, label: roleNames[value], text: text.roleTexts[value] })),
    }),
    canMail &&
      radioField({
        ...field("how"),
        choices: [
          { value: "mail", label: text.byMail, text: text.byMailText },
          { value: "password", label: text.byPassword, text: text.byPasswordText },
        ],
      }),
    canMail &&
      providers.length > 0 &&
      selectField({
        ...field("connectionId"),
        hint: text.connectionHint,
        choices: [
          { value: "", label: text.noConnection },
          ...providers.map(({ id, name }) => ({ value: id, label: name })),
        ],
      }),
    checkField({ ...field("emailKnown"), hint: text.emailKnownHint, isChecked: view.input.emailKnown }),
  ];
}

/** Each in its own language. */
export const languageChoices = ({ console: { users } }: Messages) => [
  { value: "", label: users.profile.anyLanguage },
  ...LOCALES.map((locale) => ({ value: locale, label: languageName(locale) })),
];

import { isLanguageTag } from "../../../core/users/profile/profile.ts";
import type { User } from "../../../core/users/user.ts";
import { type ConsoleView, consoleLayout } from "../../../html/components/console-layout.ts";
import { fieldRow, selectField, textArea, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { facts } from "../../../html/components/parts.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { roles } from "./list.page.ts";
import { MAX_FORMATTED_LETTERS, type MemberField, type MemberInput } from "./member-input.ts";
import { languageChoices } from "./new.page.ts";
import { displayName, isGuest } from "./user-path.ts";

export type EditView = FormView<MemberInput> &
  Pick<ConsoleView, "breadcrumbs"> & {
    member: User;
    isYou: boolean;
    fields: readonly MemberField[];
  };

export function editPage(view: EditView): Html {
  const { messages, member, state } = view;
  const { users: text } = messages.console;
  const failure = view.failure ?? faultsFailure(state, (id) => fieldLabel(id, messages));
  const title = text.edit.title({ name: displayName(member) });
  return consoleLayout({
    ...view,
    title,
    notice: failureNotice(failure, messages),
    body: html`<section class="card" aria-label="${title}">${recordForm({
      ...view,
      id: "user-form",
      cancelUri: view.consoleUri(`/users/${member.id}`),
      fields: [isGuest(member) ? undefined : profileFields(view), membershipFields(view)],
      submit: { id: "user-save", label: messages.console.frame.form.save },
    })}</section>
`,
  });
}

const fieldLabel = (id: string, messages: Messages): string => labels(messages)[id as MemberField];

function labels({ console: { users } }: Messages): Readonly<Record<MemberField, string>> {
  const { profile, record } = users;
  return {
    firstname: profile.firstname,
    surname: profile.surname,
    username: profile.username,
    phone: profile.phone,
    locale: profile.language,
    role: profile.role,
    groups: record.groups,
    attributes: record.attributes,
    membershipAttributes: record.membershipAttributes,
  };
}

const field = ({ input, state, messages }: EditView, id: MemberField) => ({
  id,
  label: labels(messages)[id],
  value: input[id],
  messages,
  ...fieldState(state, id),
});

function profileFields(view: EditView): Content {
  const { profile } = view.messages.console.users;
  const { locale } = view.input;
  const choices = languageChoices(view.messages);
  // An application may set a language that our pages do not have.
  const others =
    choices.some(({ value }) => value === locale) || !isLanguageTag(locale)
      ? []
      : [{ value: locale, label: languageName(locale) }];
  return [
    fieldRow(
      textField({ ...field(view, "firstname"), maxLength: 100 }),
      textField({ ...field(view, "surname"), maxLength: 100 }),
    ),
    textField({
      ...field(view, "username"),
      hint: profile.usernameHint,
      maxLength: 64,
      isOptional: true,
    }),
    textField({ ...field(view, "phone"), type: "tel", maxLength: 32, isOptional: true }),
    selectField({ ...field(view, "locale"), choices: [...choices, ...others] }),
  ];
}

function membershipFields(view: EditView): Content {
  const { roles: names, record, self, profile } = view.messages.console.users;
  const hint = html`${record.attributesHint} <code>{"department": "Finance"}</code>`;
  const json = (id: MemberField) =>
    textArea({
      ...field(view, id),
      hint,
      rows: 5,
      maxLength: MAX_FORMATTED_LETTERS,
      isCode: true,
      isOptional: true,
    });
  return [
    view.isYou
      ? facts([{ label: profile.role, content: html`${names[view.member.role]}. ${self.role}` }])
      : selectField({
          ...field(view, "role"),
          choices: roles.map((value) => ({ value, label: names[value] })),
        }),
    textArea({ ...field(view, "groups"), hint: record.groupsHint, rows: 4, isOptional: true }),
    view.fields.includes("attributes") && json("attributes"),
    json("membershipAttributes"),
  ];
}

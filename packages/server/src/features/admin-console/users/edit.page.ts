import { isLanguageTag } from "../../../core/users/profile/profile.ts";
import type { User } from "../../../core/users/user.ts";
import { fieldRow, selectField, textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { facts } from "../../../html/components/parts.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { MAX_FORMATTED_LETTERS, type MemberField, type MemberInput } from "./member-input.ts";
import { languageChoices } from "./new.page.ts";
import { displayName, isGuest, memberPages, roles } from "./user-pages.ts";

export type EditView = FormView<MemberInput> & {
  member: User;
  isYou: boolean;
  fields: readonly MemberField[];
};

export function editPage(view: EditView): Html {
  const { messages, member } = view;
  const title = messages.console.users.edit.title({ name: displayName(member) });
  return formPage({
    ...view,
    breadcrumbs: memberPages.crumbs(view, member),
    title,
    cardLabel: title,
    id: "user-form",
    labels: labels(messages),
    fields: [isGuest(member) ? undefined : profileFields(view), membershipFields(view)],
    submit: { id: "user-save", label: messages.console.frame.form.save },
    cancelUri: view.consoleUri(`/users/${member.id}`),
  });
}

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

function profileFields(view: EditView): Content {
  const { profile } = view.messages.console.users;
  const field = fieldsOf(view, labels(view.messages));
  const { locale } = view.input;
  const choices = languageChoices(view.messages);
  // An application may set a language that our pages do not have.
  const others =
    choices.some(({ value }) => value === locale) || !isLanguageTag(locale)
      ? []
      : [{ value: locale, label: languageName(locale) }];
  return [
    fieldRow(
      textField({ ...field("firstname"), maxLength: 100 }),
      textField({ ...field("surname"), maxLength: 100 }),
    ),
    textField({
      ...field("username"),
      hint: profile.usernameHint,
      maxLength: 64,
      isOptional: true,
    }),
    textField({ ...field("phone"), type: "tel", maxLength: 32, isOptional: true }),
    selectField({ ...field("locale"), choices: [...choices, ...others] }),
  ];
}

function membershipFields(view: EditView): Content {
  const { roles: names, record, self, profile } = view.messages.console.users;
  const field = fieldsOf(view, labels(view.messages));
  const hint = html`${record.attributesHint} <code>{"department": "Finance"}</code>`;
  const json = (id: MemberField) =>
    textArea({
      ...field(id),
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
          ...field("role"),
          choices: roles.map((value) => ({ value, label: names[value] })),
        }),
    textArea({ ...field("groups"), hint: record.groupsHint, rows: 4, isOptional: true }),
    view.fields.includes("attributes") && json("attributes"),
    json("membershipAttributes"),
  ];
}

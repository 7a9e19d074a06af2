/** users/{id}/edit: profile, role, groups and attributes in one form, saved in one transaction. */
import type { FastifyInstance } from "fastify";
import { lockUserAccount } from "../../../core/users/account.store.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { changeMemberRecord, changeRole } from "../../../core/users/member-record.ts";
import { changeProfile, isLanguageTag } from "../../../core/users/profile/profile.ts";
import type { User } from "../../../core/users/user.ts";
import { changeUsername, UsernameTaken } from "../../../core/users/username.ts";
import type { MemberRecord } from "../../../core/users/users.store.ts";
import { facts } from "../../../html/components/card.ts";
import { fieldRow, selectField, textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import type { auditContext } from "../../../page-kit/page.ts";
import { detailsSection } from "../../../page-kit/profile-fields.ts";
import { versionOf } from "../../../page-kit/record-version.ts";
import {
  displayMember,
  editableFields,
  MAX_FORMATTED_LETTERS,
  type MemberContent,
  type MemberField,
  type MemberInput,
  readMemberInput,
  toMemberInput,
  validateMember,
} from "./member-input.ts";
import { languageChoices } from "./new.page.ts";
import {
  displayName,
  isGuest,
  lastAdministratorRefusal,
  memberPages,
  roles,
  type UsersDeps,
} from "./user-pages.ts";

export function editUserRoute(app: FastifyInstance, deps: UsersDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/users/:id/edit", {
    current: "users",
    load: memberPages.require,
    lock: (tx, user) => lockUserAccount(tx, user, deps.clock()),
    version: toMemberInput,
    toInput: toMemberInput,
    readInput: ({ values }, editing) => readMemberInput(values, editing.record, formFields(editing)),
    toDisplay: (input, editing) => displayMember(input, formFields(editing), editing.messages),
    page: editPage,
    validate: (input, { messages }) => validateMember(input, messages),
    save: async (inside, content, { visit, acting, record }) => {
      await saveMember(inside, content, { ...acting, record });
      return memberPages.path(visit.organisation, record.id, "?done=saved");
    },
    explain: (error, { messages }) => {
      if (error instanceof UsernameTaken)
        return { faults: { username: messages.console.users.faults.usernameTaken } };
      return error instanceof LastAdministrator ? lastAdministratorRefusal(messages) : undefined;
    },
  });
}

const isYou = ({ record, signedIn }: Editing<User>): boolean => record.id === signedIn.user.id;

const formFields = (editing: Editing<User>): readonly MemberField[] =>
  editableFields(editing.record, isYou(editing));

/** @throws UsernameTaken, LastAdministrator */
async function saveMember(
  inside: UsersDeps,
  content: MemberContent,
  { record, ...by }: ReturnType<typeof auditContext> & { record: User },
): Promise<void> {
  const acting = { ...by, id: record.id };
  if (!isGuest(record)) {
    await changeProfile(inside, { ...acting, profile: content.profile });
    await changeUsername(inside, { ...acting, username: content.username });
  }
  await changeRole(inside, { ...acting, role: content.role });
  const changed = changedRecord(record, content);
  if (changed) await changeMemberRecord(inside, { ...acting, record: changed });
}

/** @returns undefined when nothing of it has changed */
function changedRecord(present: User, content: MemberContent): MemberRecord | undefined {
  const { groups, attributes, membershipAttributes } = content;
  const isSame = (one: unknown, other: unknown) => versionOf(one) === versionOf(other);
  const changed = {
    ...(isGuest(present) || isSame(attributes, present.attributes) ? {} : { attributes }),
    ...(isSame({ groups, attributes: membershipAttributes }, present.membership)
      ? {}
      : { membership: { groups, attributes: membershipAttributes } }),
  };
  return Object.keys(changed).length === 0 ? undefined : changed;
}

type EditView = FormView<MemberInput>;

function editPage(view: EditView, editing: Editing<User>): Html {
  const { messages } = view;
  const { record: member } = editing;
  const title = messages.console.users.edit.title({ name: displayName(member) });
  return formPage({
    ...view,
    breadcrumbs: memberPages.crumbs(view, member),
    title,
    cardLabel: title,
    id: "user-form",
    labels: labels(messages),
    fields: [isGuest(member) ? undefined : profileFields(view), membershipFields(view, editing)],
    submit: { id: "user-save", label: messages.console.frame.form.save },
    cancelUri: view.consoleUri(`/users/${member.id}`),
  });
}

function labels({ console, profileDetails }: Messages): Readonly<Record<MemberField, string>> {
  const { profile, record } = console.users;
  return {
    ...profileDetails.labels,
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
    detailsSection({
      field,
      hint: view.messages.profileDetails.theirs,
      isOwn: false,
      messages: view.messages,
    }),
  ];
}

function membershipFields(view: EditView, editing: Editing<User>): Content {
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
    isYou(editing)
      ? facts([{ label: profile.role, content: html`${names[editing.record.role]}. ${self.role}` }])
      : selectField({
          ...field("role"),
          choices: roles.map((value) => ({ value, label: names[value] })),
        }),
    textArea({ ...field("groups"), hint: record.groupsHint, rows: 4, isOptional: true }),
    formFields(editing).includes("attributes") && json("attributes"),
    json("membershipAttributes"),
  ];
}

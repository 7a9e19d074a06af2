/** users/{id}/edit: profile, role, groups and attributes in one form, saved in one transaction. */
import type { FastifyInstance } from "fastify";
import { lockUserAccount } from "../../../core/users/account.store.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { changeMemberRecord, changeRole } from "../../../core/users/member-record.ts";
import { changeProfile } from "../../../core/users/profile/profile.ts";
import type { User } from "../../../core/users/user.ts";
import { changeUsername, UsernameTaken } from "../../../core/users/username.ts";
import type { MemberRecord } from "../../../core/users/users.store.ts";
import { type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import type { auditContext } from "../../../page-kit/page.ts";
import { versionOf } from "../../../page-kit/record-version.ts";
import { editPage } from "./edit.page.ts";
import {
  displayMember,
  editableFields,
  type MemberContent,
  type MemberField,
  readMemberInput,
  toMemberInput,
  validateMember,
} from "./member-input.ts";
import {
  isGuest,
  lastAdministratorRefusal,
  requireMember,
  type UsersDeps,
  userCrumbs,
  userPath,
} from "./user-path.ts";

export function editUserRoute(app: FastifyInstance, deps: UsersDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/users/:id/edit", {
    current: "users",
    load: requireMember,
    lock: (tx, user) => lockUserAccount(tx, user, deps.clock()),
    version: toMemberInput,
    toInput: toMemberInput,
    readInput: ({ values }, editing) => readMemberInput(values, editing.record, formFields(editing)),
    toDisplay: (input, editing) => displayMember(input, formFields(editing), editing.messages),
    page: (view, editing) => {
      const { organisation } = editing.visit;
      return editPage({
        ...view,
        breadcrumbs: userCrumbs(organisation, editing.record, view.messages),
        member: editing.record,
        isYou: isYou(editing),
        fields: formFields(editing),
      });
    },
    validate: (input, { messages }) => validateMember(input, messages),
    save: async (inside, content, { visit, acting, record }) => {
      await saveMember(inside, content, { ...acting, record });
      return userPath(visit.organisation, record.id, "?done=saved");
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

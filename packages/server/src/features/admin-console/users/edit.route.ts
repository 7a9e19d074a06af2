/** users/{id}/edit: profile, role, groups and attributes in one form; all of it is kept, or nothing. */
import type { FastifyInstance } from "fastify";
import { changeUsername, UsernameTaken } from "../../../core/users/identifiers/change-username.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { changeMemberRecord } from "../../../core/users/member-record.ts";
import { changeRole } from "../../../core/users/members/change-role.ts";
import { changeProfile } from "../../../core/users/profile/profile.ts";
import type { User } from "../../../core/users/user.ts";
import { holdAccount, type MemberRecord } from "../../../core/users/users.store.ts";
import { type Editing, editForm } from "../../../page-kit/edit-form.ts";
import { seenOf } from "../../../page-kit/submission.ts";
import type { actingOn } from "../../../page-kit/visit.ts";
import { editPage } from "./edit.page.ts";
import {
  contentOf,
  fieldsOf,
  inWords,
  type MemberContent,
  type MemberField,
  readMember,
  typedOf,
} from "./typed-member.ts";
import {
  isGuest,
  lastAdministratorRefusal,
  memberHere,
  type UsersDeps,
  userCrumbs,
  userPath,
} from "./user-visit.ts";

export function editUserRoute(app: FastifyInstance, deps: UsersDeps): void {
  editForm(app, deps, {
    path: "/users/:id/edit",
    current: "users",
    find: memberHere,
    hold: (tx, user) => holdAccount(tx, user, deps.clock()),
    seenIn: typedOf,
    typedOf,
    read: ({ values }, at) => readMember(values, at.found, formFields(at)),
    inWords: (typed, at) => inWords(typed, formFields(at), at.messages),
    page: (view, at) => {
      const { organisation } = at.visit;
      return editPage({
        ...view,
        breadcrumbs: userCrumbs(organisation, at.found, view.messages),
        member: at.found,
        isYou: isYou(at),
        fields: formFields(at),
        cancelUri: userPath(organisation, at.found.id),
      });
    },
    contentOf: (typed, { messages }) => contentOf(typed, messages),
    keep: async (inside, content, { visit, acting, found }) => {
      await keepMember(inside, content, { ...acting, found });
      return userPath(visit.organisation, found.id, "?done=saved");
    },
    refused: (error, { messages }) => {
      if (error instanceof UsernameTaken)
        return { faults: { username: messages.console.users.faults.usernameTaken } };
      return error instanceof LastAdministrator ? lastAdministratorRefusal(messages) : undefined;
    },
  });
}

const isYou = ({ found, signedIn }: Editing<User>): boolean => found.id === signedIn.user.id;

const formFields = (at: Editing<User>): readonly MemberField[] => fieldsOf(at.found, isYou(at));

/** @throws UsernameTaken, LastAdministrator */
async function keepMember(
  inside: UsersDeps,
  content: MemberContent,
  { found, ...by }: ReturnType<typeof actingOn> & { found: User },
): Promise<void> {
  const acting = { ...by, id: found.id };
  if (!isGuest(found)) {
    await changeProfile(inside, { ...acting, profile: content.profile });
    await changeUsername(inside, { ...acting, username: content.username });
  }
  await changeRole(inside, { ...acting, role: content.role });
  const record = changedRecord(found, content);
  if (record) await changeMemberRecord(inside, { ...acting, record });
}

/** @returns undefined when it is as it was */
function changedRecord(present: User, content: MemberContent): MemberRecord | undefined {
  const { groups, attributes, membershipAttributes } = content;
  const isSame = (one: unknown, other: unknown) => seenOf(one) === seenOf(other);
  const record = {
    ...(isGuest(present) || isSame(attributes, present.attributes) ? {} : { attributes }),
    ...(isSame({ groups, attributes: membershipAttributes }, present.membership)
      ? {}
      : { membership: { groups, attributes: membershipAttributes } }),
  };
  return Object.keys(record).length === 0 ? undefined : record;
}

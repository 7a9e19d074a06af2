/** users/{id}/edit: profile, role, groups and attributes in one form; all of it is kept, or nothing. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import { ChangedMeanwhile, requireSeen, seenOf, submission } from "../../../console/submission.ts";
import {
  actingOn,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../console/visit.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { changeUsername, UsernameTaken } from "../../../core/users/identifiers/change-username.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { changeMemberRecord } from "../../../core/users/member-record.ts";
import { changeRole } from "../../../core/users/members/change-role.ts";
import { changeProfile } from "../../../core/users/profile/profile.ts";
import { findUser, holdAccount, type MemberRecord } from "../../../core/users/store.ts";
import type { User } from "../../../core/users/user.ts";
import { boundTo } from "../../../db/open.ts";
import { differing, type FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import { NotFound } from "../../../http/errors.ts";
import { editPage } from "./edit.page.ts";
import {
  contentOf,
  fieldsOf,
  inWords,
  type MemberContent,
  type MemberField,
  readMember,
  type TypedMember,
  typedOf,
} from "./typed-member.ts";
import {
  idIn,
  isGuest,
  lastAdministratorRefusal,
  memberHere,
  type UsersDeps,
  userCrumbs,
  userPath,
} from "./user-visit.ts";

export function editUserRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/users/:id/edit", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
      if (!signedIn) return;
      const user = await memberHere(deps, visit);
      await form(deps, visit, { signedIn, user, typed: typedOf(user) });
    },
    post: (visit) => change(deps, visit),
  });
}

const ownPath = (visit: Visit): string => userPath(visit.organisation, idIn(visit), "/edit");

const formFields = (user: User, { user: you }: SignedIn): readonly MemberField[] =>
  fieldsOf(user, user.id === you.id);

interface Shown {
  readonly signedIn: SignedIn;
  readonly user: User;
  readonly typed: TypedMember;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  /** As the form had it; what the record is now, when it is left out. */
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: UsersDeps, visit: Visit, shown: Shown): Promise<void> {
  const { signedIn, user, typed, state = {}, failure, status } = shown;
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const page = editPage({
    ...frame,
    breadcrumbs: userCrumbs(organisation, user, frame.messages),
    member: user,
    isYou: user.id === signedIn.user.id,
    fields: formFields(user, signedIn),
    typed,
    state,
    failure,
    csrf: deps.door.formBinding(visit).csrf,
    seen: shown.seen ?? seenOf(typedOf(user)),
    action: ownPath(visit),
    cancelUri: userPath(organisation, user.id),
  });
  await show(visit, frame, page, status);
}

async function change(deps: UsersDeps, visit: Visit): Promise<void> {
  const read = (signedIn: SignedIn, user: User, values: ReadonlyMap<string, string>) => ({
    signedIn,
    user,
    typed: readMember(values, user, formFields(user, signedIn)),
    seen: values.get("seen"),
  });
  const sent = await submission(deps, visit, ownPath(visit), async ({ signedIn, values }) => {
    const shown = read(signedIn, await memberHere(deps, visit), values);
    await form(deps, visit, { ...shown, failure: { kind: "expired" }, status: 403 });
  });
  if (!sent) return;
  const user = await memberHere(deps, visit);
  const again = read(sent.signedIn, user, sent.values);
  const { messages } = await consoleFrame(deps, visit, sent.signedIn, "users");
  const result = contentOf(again.typed, messages);
  if ("faults" in result) return form(deps, visit, { ...again, state: result, status: 400 });
  const { faults } = messages.console.users;
  try {
    await keep(deps, visit, again, result.content);
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return changedMeanwhile(deps, visit, again);
    if (error instanceof UsernameTaken)
      return form(deps, visit, {
        ...again,
        state: { faults: { username: faults.usernameTaken } },
        status: 400,
      });
    if (error instanceof LastAdministrator)
      return form(deps, visit, { ...again, failure: lastAdministratorRefusal(messages), status: 409 });
    throw error;
  }
  await goTo(visit, userPath(visit.organisation, user.id, "?done=saved"));
}

/** @throws ChangedMeanwhile, UsernameTaken, LastAdministrator; NotFound for a member who is gone */
function keep(deps: UsersDeps, visit: Visit, { signedIn, user, seen }: Shown, content: MemberContent) {
  const acting = { ...actingOn(visit, signedIn), id: user.id };
  return deps.database.transaction(async (tx) => {
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    await holdAccount(tx, user, deps.clock());
    const present = await findUser(tx, acting.orgId, user.id);
    if (!present) throw new NotFound("user");
    requireSeen(seen, typedOf(present));
    if (!isGuest(present)) {
      await changeProfile(inside, { ...acting, profile: content.profile });
      await changeUsername(inside, { ...acting, username: content.username });
    }
    await changeRole(inside, { ...acting, role: content.role });
    const record = changedRecord(present, content);
    if (record) await changeMemberRecord(inside, { ...acting, record });
  });
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

async function changedMeanwhile(deps: UsersDeps, visit: Visit, again: Shown): Promise<void> {
  const { signedIn, typed } = again;
  const user = await memberHere(deps, visit);
  const { messages } = await consoleFrame(deps, visit, signedIn, "users");
  const fields = formFields(user, signedIn);
  const isNow = differing(inWords(typed, fields, messages), inWords(typedOf(user), fields, messages));
  const by = await lastChangeOf(deps, visit.organisation.id, user.id, messages);
  const failure: FormFailure = { kind: "changed", by };
  await form(deps, visit, { signedIn, user, typed, state: { isNow }, failure, status: 409 });
}

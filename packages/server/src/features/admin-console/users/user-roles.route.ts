/** users/{id}/roles and users/{id}/groups: giving a role or a group to a member, and taking it away. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { GroupConflict } from "../../../core/groups/group.ts";
import { changeMembers } from "../../../core/groups/group-members.ts";
import { type CountedGroup, findGroup } from "../../../core/groups/groups.store.ts";
import { findDirectGroups } from "../../../core/groups/named-groups.store.ts";
import { type Assignment, findAssignment } from "../../../core/roles/assignments.store.ts";
import { unassignRole } from "../../../core/roles/assignments.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { User } from "../../../core/users/user.ts";
import { parseQuery } from "../../../http/form-body.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import {
  consoleRoute,
  queryString,
  requestPath,
  requireAdministrator,
  requireId,
  type Visit,
} from "../../../page-kit/page.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { type Receiver, showChoiceList } from "../choice-list.ts";
import { joinableGroups } from "../groups/joinable-groups.ts";
import { assignableRoles } from "../roles/assignable-roles.ts";
import { displayName, memberPages, type UsersDeps } from "./user-pages.ts";
import { ACCESS } from "./user-record.ts";

export function userRolesRoutes(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/users/:id/roles/add", { get: showRoles });
  consoleRoute(app, deps, "/oauth/manage/:org/users/:id/roles/add/bulk", {
    get: (_, visit) =>
      withReceiver(deps, visit, (one) => bulkHandlers(assignableRoles(one)).get(deps, visit)),
    post: (_, visit) =>
      withReceiver(deps, visit, (one) => bulkHandlers(assignableRoles(one)).post(deps, visit)),
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/roles/:assignment/remove", roleRemoval);
  consoleRoute(app, deps, "/oauth/manage/:org/users/:id/groups/add", { get: showGroups });
  consoleRoute(app, deps, "/oauth/manage/:org/users/:id/groups/add/bulk", {
    get: (_, visit) => withReceiver(deps, visit, (one) => bulkHandlers(joinableGroups(one)).get(deps, visit)),
    post: (_, visit) =>
      withReceiver(deps, visit, (one) => bulkHandlers(joinableGroups(one)).post(deps, visit)),
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/groups/:group/remove", leaving);
}

const toReceiver = (user: User): Receiver => ({
  ...{ subjectType: "user", subjectId: user.id, name: displayName(user) },
  ...{ current: "users", path: `/users/${user.id}` },
  crumbs: (frame) => [
    ...memberPages.listCrumbs(frame),
    { label: displayName(user), uri: frame.consoleUri(`/users/${user.id}${ACCESS}`) },
  ],
});

/** Who may not see the member is not told whether there is one. */
async function withReceiver(
  deps: UsersDeps,
  visit: Visit,
  handle: (receiver: Receiver, signedIn: SignedIn) => Promise<void>,
): Promise<void> {
  requireId(visit);
  const query = queryString(Object.fromEntries(parseQuery(visit.request).values));
  const signedIn = await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
  await handle(toReceiver(await memberPages.require(deps, visit)), signedIn);
}

const showRoles = (deps: UsersDeps, visit: Visit): Promise<void> =>
  withReceiver(deps, visit, (receiver, signedIn) =>
    showChoiceList(deps, visit, assignableRoles(receiver), {
      ...{ signedIn, receiver, summary: ({ console }) => console.roles.give.summary },
    }),
  );

const showGroups = (deps: UsersDeps, visit: Visit): Promise<void> =>
  withReceiver(deps, visit, (receiver, signedIn) =>
    showChoiceList(deps, visit, joinableGroups(receiver), {
      ...{ signedIn, receiver, summary: ({ console }) => console.groups.join.summary },
    }),
  );

interface RoleRemoval {
  readonly user: User;
  readonly assignment: Assignment;
}

const roleRemoval: Confirmation<UsersDeps, RoleRemoval> = {
  ...aboutRecord(memberPages, ({ user }: RoleRemoval) => user, ACCESS),
  load: async (deps, organisation, { assignment: id = "", ...params }) => {
    const user = await memberPages.find(deps, organisation, params);
    if (!user || !isUuid(id)) return undefined;
    const key = { orgId: organisation.id, id: id.toLowerCase() };
    const assignment = await findAssignment(deps.database.query, key);
    const isTheirs = assignment?.subjectType === "user" && assignment.subjectId === user.id;
    return assignment && isTheirs ? { user, assignment } : undefined;
  },
  question: ({ console: { roles } }, { user, assignment: { roleKey } }) => {
    const { assignments: text } = roles;
    return {
      heading: text.removeHeading({ name: displayName(user), title: roleKey }),
      text: text.removeText,
      confirm: text.remove,
      confirmId: "user-role-remove-confirm",
    };
  },
  apply: async (deps, acting, { assignment: { id } }) =>
    (await unassignRole(deps, { ...acting, id })) ? done("unassigned") : alreadyApplied,
};

interface Leaving {
  readonly user: User;
  readonly group: CountedGroup;
  readonly isMember: boolean;
}

const leaving: Confirmation<UsersDeps, Leaving> = {
  ...aboutRecord(memberPages, ({ user }: Leaving) => user, ACCESS),
  load: async (deps, organisation, { group: groupId = "", ...params }) => {
    const user = await memberPages.find(deps, organisation, params);
    if (!user || !isUuid(groupId)) return undefined;
    const db = deps.database.query;
    const group = await findGroup(db, { orgId: organisation.id, id: groupId.toLowerCase() });
    if (!group) return undefined;
    const groups = await findDirectGroups(db, { orgId: organisation.id, userId: user.id });
    return { user, group, isMember: groups.some(({ id }) => id === group.id) };
  },
  isDone: (_, { isMember }) => !isMember,
  question: ({ console: { groups } }, { user, group: { displayName: group } }) => {
    const { members: text } = groups;
    return {
      heading: text.removeHeading({ name: displayName(user), group }),
      text: text.removeText,
      confirm: text.remove,
      confirmId: "user-group-remove-confirm",
    };
  },
  apply: async (deps, acting, { user, group }, { messages }) => {
    try {
      const remove = [{ type: "user", id: user.id }] as const;
      await changeMembers(deps, { ...acting, id: group.id, add: [], remove });
      return done("left");
    } catch (error) {
      if (!(error instanceof GroupConflict)) throw error;
      const { groups: text } = messages.console;
      return { kind: "refused", title: text.members.notRemoved, text: text.readOnly };
    }
  },
};

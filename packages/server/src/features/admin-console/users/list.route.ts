/** GET users: the organisation's members, searched, sorted and paged; what can be done with ticked ones; a file of them. */
import type { FastifyInstance } from "fastify";
import {
  countMembers,
  type ListedMember,
  listMembers,
  type MemberSort,
  type MemberState,
  memberStates,
  searchWords,
} from "../../../core/users/members/members.store.ts";
import type { Role } from "../../../core/users/user.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import type { Filter, List } from "../../../page-kit/list/list.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { consolePath, consoleRoute } from "../../../page-kit/page.ts";
import { userActs } from "./bulk.ts";
import { displayName, memberPages, roles, type UsersDeps } from "./user-pages.ts";

export function userListRoutes(app: FastifyInstance, deps: UsersDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/users", userList);
  consoleRoute(app, deps, "/oauth/manage/:org/users/bulk", bulkHandlers(userList));
  consoleRoute(app, deps, "/oauth/manage/:org/users/export", { get: listExport(userList) });
}

type UserChoices = { role: Role; state: MemberState };

const toFilter = ({ search, role, state }: Filter<UserChoices>) => ({
  words: searchWords(search),
  ...(role && { role }),
  ...(state && { state }),
});

/** Never empty: the reader is a member. */
export const userList = {
  current: "users",
  noun: "user",
  savedAs: "users",
  uri: (organisation, rest = "") => consolePath(organisation, `/users${rest}`),
  texts: ({ console: { frame, users } }, { name: organisation }, filter) => ({
    title: filter?.state === "invited" ? frame.pages.invitations : frame.pages.users,
    summary: users.list[filter?.state === "invited" ? "invitations" : "summary"]({ organisation }),
    search: users.list.search,
  }),
  filters: {
    role: {
      label: ({ console: { users } }) => users.list.role,
      any: ({ console: { users } }) => users.list.anyRole,
      choices: roles,
      names: ({ console: { users } }) => users.roles,
    },
    state: {
      label: ({ console: { users } }) => users.list.state,
      any: ({ console: { users } }) => users.list.anyState,
      choices: memberStates,
      names: ({ console: { users } }) => users.states,
    },
  },
  sorts: {
    created: { isNumber: true, isDescending: true, value: ({ createdAt }) => createdAt },
    email: { isNumber: false, isDescending: false, value: ({ emailOrder }) => emailOrder },
  },
  rows: ({ deps, organisation }, { filter, page, limit }) =>
    listMembers(deps.database.query, organisation.id, { filter: toFilter(filter), page, limit }),
  count: ({ deps, organisation }, filter, max) =>
    countMembers(deps.database.query, organisation.id, { filter: toFilter(filter), max }),
  columns: [
    {
      label: ({ console: { users } }) => users.list.user,
      cell: (member, { consoleUri, reader, messages }) => {
        const name = displayName(member);
        return nameCell({
          name,
          uri: consoleUri(`/users/${member.id}`),
          tag: member.id === reader.id ? messages.console.users.you : undefined,
          logo: avatar(name, undefined, { isRound: true }),
        });
      },
    },
    {
      label: ({ console: { users } }) => users.list.email,
      sort: "email",
      cell: ({ email }) => html`<bdi>${email}</bdi>`,
    },
    {
      label: ({ console: { users } }) => users.list.role,
      cell: ({ role }, { messages: { console } }) =>
        role === "Administrator" ? html`<b>${console.users.roles[role]}</b>` : console.users.roles[role],
    },
    {
      label: ({ console: { users } }) => users.list.state,
      cell: (member, { messages }) => memberStatus(member, messages),
    },
    {
      label: ({ console: { users } }) => users.list.since,
      sort: "created",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
    },
  ],
  nameOf: displayName,
  acts: userActs,
  findName: async (deps, organisation, id) => {
    const user = await memberPages.find(deps, organisation, { id });
    return user && displayName(user);
  },
  export: {
    name: "users",
    isPersonal: true,
    columns: {
      id: ({ id }) => id,
      email: ({ email }) => email,
      firstname: ({ firstname }) => firstname,
      surname: ({ surname }) => surname,
      username: ({ username }) => username,
      role: ({ role }) => role,
      status: (member) => statusOf(member),
      home: ({ home }) => home?.name ?? null,
      memberSince: ({ createdAt }) => new Date(createdAt),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "user-new",
      uri: consoleUri("/users/new"),
      label: console.users.list.make,
      kind: "primary",
    }),
  beside: ({ consoleUri, waitingSignUps, messages: { console } }: ConsoleFrame, { outbox }: UsersDeps) => {
    const { list: text, signUps } = console.users;
    const several = (id: string, rest: string, label: string) =>
      buttonLink({ id, uri: consoleUri(rest), label, kind: "quiet" });
    return [
      waitingSignUps !== undefined &&
        several("users-sign-ups", "/users/sign-ups", signUps.waiting({ count: waitingSignUps })),
      several("users-import", "/users/import", text.import),
      outbox.isOpen && several("users-invite", "/users/invite", text.inviteSeveral),
    ];
  },
  done: ({ console: { users } }) => {
    const { deleted, removed, imported, invitedMany } = users.done;
    return { deleted, removed, imported, invitedMany };
  },
} satisfies List<UsersDeps, ListedMember, MemberSort, UserChoices>;

const statusOf = ({ disabledAt, isInvited }: ListedMember): "disabled" | "invited" | "active" =>
  disabledAt !== null ? "disabled" : isInvited ? "invited" : "active";

const badgeKinds = { disabled: "bad", invited: "warn", active: "good" } as const;

/** A guest may be disabled too. */
function memberStatus(member: ListedMember, { console: { users: text } }: Messages): Content {
  const { home } = member;
  const status = statusOf(member);
  return html`${badge(badgeKinds[status], text.states[status])}${home && html` <span class="quiet item-note"><bdi>${text.list.guestOf({ organisation: home.name })}</bdi></span>`}`;
}

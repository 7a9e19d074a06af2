/** The roles and groups of a member, on the access tab: how the member comes by each, and what can be taken away. */
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { queryString } from "../../../page-kit/page.ts";
import type { RolesOfUser, UserGroup, UserRole } from "./user-roles.ts";
import type { UserView } from "./user-view.ts";

type View = UserView & RolesOfUser;

export function rolesCard(view: View): Html {
  const { record: member, roles, moreRoles, messages, uriOf, consoleUri } = view;
  const { access: text, roles: own } = messages.console.users;
  const { roles: words } = messages.console;
  const builtIn = {
    id: "user-role-own",
    cells: [
      nameCell({
        name: own[member.role],
        tag: words.builtIn.tag,
        note: html`<code>${member.role}</code>`,
      }),
      words.owners.organisation,
      text.ownRole,
    ],
    actions: html`<a id="user-role-edit" href="${linkAddress(uriOf("/edit"))}">${text.change}</a>
`,
  };
  return card({
    id: "user-roles",
    title: words.title,
    text: text.rolesText,
    actions: html`<div class="row-actions">${[
      buttonLink({
        id: "user-why",
        uri: consoleUri(`/access-check${queryString({ subjectType: "user", subject: member.email })}`),
        label: words.why.open,
      }),
      buttonLink({ id: "user-roles-add", uri: uriOf("/roles/add"), label: words.give.open }),
    ]}</div>`,
    body: html`${table({
      label: words.title,
      columns: [words.role, words.of, text.through],
      rows: [builtIn, ...roles.map((role) => roleRow(view, role))],
      messages,
    })}${moreLine(view, moreRoles)}`,
  });
}

function roleRow({ messages, uriOf, consoleUri }: View, role: UserRole) {
  const { access: text } = messages.console.users;
  const { owners } = messages.console.roles;
  const { id, name, key, application, assignmentId, paths } = role;
  return {
    id: `user-role-${id}`,
    cells: [
      nameCell({ name, uri: consoleUri(`/roles/${id}`), note: html`<code>${key}</code>` }),
      application
        ? html`<a href="${linkAddress(consoleUri(`/applications/${application.id}/roles`))}"><bdi>${application.name}</bdi></a>`
        : owners.organisation,
      lines([assignmentId !== undefined && text.direct, ...paths.map((path) => pathOf(path, consoleUri))]),
    ],
    ...(assignmentId !== undefined && {
      actions: rowLink({
        id: `user-role-remove-${id}`,
        uri: uriOf(`/roles/${assignmentId}/remove`),
        text: text.remove,
        label: text.removeOf({ name }),
        isQuestion: true,
      }),
    }),
  };
}

export function groupsCard(view: View): Html {
  const { groups, moreGroups, messages, uriOf } = view;
  const { access: text } = messages.console.users;
  const { groups: words, frame } = messages.console;
  return card({
    id: "user-groups",
    title: frame.pages.groups,
    actions: buttonLink({ id: "user-groups-add", uri: uriOf("/groups/add"), label: text.addGroup }),
    body: html`${table({
      label: frame.pages.groups,
      columns: [words.columns.name, text.through, text.memberSince],
      rows: groups.map((group) => groupRow(view, group)),
      none: text.noGroups,
      messages,
    })}${moreLine(view, moreGroups)}`,
  });
}

function groupRow({ messages, uriOf, consoleUri }: View, { id, displayName, direct, path }: UserGroup) {
  const { access: text } = messages.console.users;
  const { sources } = messages.console.groups;
  const isOurs = direct?.source === "local";
  const source = direct && !isOurs ? sources[direct.source as keyof typeof sources] : undefined;
  return {
    id: `user-group-${id}`,
    cells: [
      nameCell({ name: displayName, uri: consoleUri(`/groups/${id}`), tag: source }),
      direct ? text.direct : pathOf(path.slice(0, -1), consoleUri),
      direct && relativeTime(direct.addedAt, messages.format.day),
    ],
    ...(isOurs && {
      actions: rowLink({
        id: `user-group-remove-${id}`,
        uri: uriOf(`/groups/${id}/remove`),
        text: text.remove,
        label: text.removeFrom({ group: displayName }),
        isQuestion: true,
      }),
    }),
  };
}

const pathOf = (path: RolesOfUser["groups"][number]["path"], consoleUri: (rest: string) => string): Html =>
  html`${path.map(({ id, displayName }, index) => [index > 0 && html` <span aria-hidden="true">→</span> `, html`<a href="${linkAddress(consoleUri(`/groups/${id}`))}"><bdi>${displayName}</bdi></a>`])}`;

const lines = (all: readonly Content[]): Content =>
  all.filter((one) => one !== false).map((one, index) => html`${index > 0 && html`<br>`}${one}`);

const moreLine = ({ messages }: View, count: number): Content =>
  count > 0 &&
  html`<p class="quiet">${messages.console.users.import.more({ count })}</p>
`;

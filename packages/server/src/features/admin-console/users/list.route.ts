/** GET users: the organisation's members, newest first. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import {
  countMembers,
  type ListedMember,
  listMembers,
  type MemberSort,
  memberStates,
  searchWords,
} from "../../../core/users/members/members.store.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { bulkBar } from "../../../page-kit/bulk-acts.ts";
import { readingRoute } from "../../../page-kit/console-frame.ts";
import { listPage } from "../../../page-kit/list-page.ts";
import { type ListPlace, placeRows, readListPlace, totalOf } from "../../../page-kit/list-place.ts";
import { consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { userActs } from "./bulk.ts";
import { readUserFilters, type UserFilters, userListUri, userSorts } from "./list-address.ts";
import { displayName, roles, type UsersDeps } from "./user-pages.ts";

export function userListRoute(app: FastifyInstance, deps: UsersDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/users", "users", showList, (visit) =>
    userListUri(visit, parseQuery(visit.request).values),
  );
}

const listDone = ["deleted", "removed", "imported", "invitedMany"] as const;

/** Never empty: the reader is a member. */
async function showList(
  deps: UsersDeps,
  visit: Visit,
  frame: ConsoleFrame,
  { user: reader }: SignedIn,
): Promise<Html> {
  const { values } = parseQuery(visit.request);
  const filters = readUserFilters(values);
  const { search, role, state: status } = filters;
  const place = readListPlace(values, userSorts);
  const { placed, total } = await loadRows(deps, visit, filters, place);
  const { frame: words, users } = frame.messages.console;
  const { list: text } = users;
  const done = values.get("done");
  return listPage({
    ...frame,
    ...placed,
    range: { ...placed.range, ...total },
    title: status === "invited" ? words.pages.invitations : words.pages.users,
    summary: text.summary({ organisation: visit.organisation.name }),
    path: "/users",
    create: { id: "user-new", label: text.make },
    more: [
      buttonLink({
        id: "users-import",
        uri: frame.consoleUri("/users/import"),
        label: text.import,
        kind: "quiet",
      }),
      deps.outbox.isOpen &&
        buttonLink({
          id: "users-invite",
          uri: frame.consoleUri("/users/invite"),
          label: text.inviteSeveral,
          kind: "quiet",
        }),
    ],
    done: listDone.find((one) => one === done) && users.done[done as (typeof listDone)[number]],
    label: text.search,
    search,
    filters: [
      { id: "role", label: text.role, any: text.anyRole, value: role, choices: roles, names: users.roles },
      {
        id: "state",
        label: text.state,
        any: text.anyState,
        value: status,
        choices: memberStates,
        names: users.states,
      },
    ],
    columns: [
      text.user,
      { label: text.email, sort: placed.sortOf("email") },
      text.role,
      text.state,
      { label: text.since, sort: placed.sortOf("created") },
    ],
    rows: placed.shown.map((member) => memberRow(frame, member, member.id === reader.id)),
    bulk: bulkBar(deps, visit, userActs, frame.messages),
  });
}

async function loadRows(
  { database: { query } }: Pick<UsersDeps, "database">,
  { organisation }: Visit,
  filters: UserFilters,
  place: ListPlace<MemberSort>,
) {
  const { search, role, state } = filters;
  const filter = { words: searchWords(search), ...(role && { role }), ...(state && { state }) };
  const { id: orgId } = organisation;
  const found = await listMembers(query, orgId, { filter, page: place, limit: place.size + 1 });
  const placed = placeRows(found, place, {
    sorts: userSorts,
    cursor: ({ id, emailOrder, createdAt }) => ({
      value: place.sort === "email" ? emailOrder : createdAt,
      id,
    }),
    uri: (more) => consolePath(organisation, `/users${queryString({ ...filters, ...more })}`),
  });
  const total = await totalOf(placed, (max) => countMembers(query, orgId, { filter, max }));
  return { placed, total };
}

function memberRow({ consoleUri, messages }: ConsoleFrame, member: ListedMember, isYou: boolean): Row {
  const { users: text } = messages.console;
  const name = displayName(member);
  const link = nameCell({
    name,
    uri: consoleUri(`/users/${member.id}`),
    tag: isYou ? text.you : undefined,
    logo: avatar(name, undefined, { isRound: true }),
  });
  return {
    id: `user-${member.id}`,
    selection: { value: member.id, name },
    cells: [
      link,
      html`<bdi>${member.email}</bdi>`,
      member.role === "Administrator" ? html`<b>${text.roles.Administrator}</b>` : text.roles.Standard,
      memberStatus(member, messages),
      relativeTime(member.createdAt, messages.format.day),
    ],
  };
}

/** A guest may be disabled too. */
function memberStatus(
  { disabledAt, isInvited, home }: ListedMember,
  { console: { users: text } }: Messages,
): Content {
  const kind =
    disabledAt !== null
      ? badge("bad", text.states.disabled)
      : isInvited
        ? badge("warn", text.states.invited)
        : badge("good", text.states.active);
  return html`${kind}${home && html` <span class="quiet item-note"><bdi>${text.list.guestOf({ organisation: home.name })}</bdi></span>`}`;
}

/** GET users: the organisation's members, newest first. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import {
  type ListedMember,
  listMembers,
  type MemberCursor,
  memberStates,
  searchWords,
} from "../../../core/users/members/members.store.ts";
import { badge } from "../../../html/components/badge.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readingRoute } from "../../../page-kit/console-frame.ts";
import { listPage, pageUris, ROWS_PER_PAGE, readSearch, splitPage } from "../../../page-kit/list-page.ts";
import { consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { displayName, roles, type UsersDeps } from "./user-pages.ts";

export function userListRoute(app: FastifyInstance, deps: UsersDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/users", "users", showList, (visit) =>
    listUri(visit, readFilters(parseQuery(visit.request).values)),
  );
}

type Filters = ReturnType<typeof readFilters>;

const readFilters = (values: ReadonlyMap<string, string>) => ({
  search: readSearch(values),
  role: roles.find((one) => one === values.get("role")),
  state: memberStates.find((one) => one === values.get("state")),
});

const listUri = ({ organisation }: Visit, filters: Filters, after?: MemberCursor): string =>
  consolePath(
    organisation,
    `/users${queryString({ ...filters, after: after && `${after.createdAt}.${after.id}` })}`,
  );

/** Anything else begins at the beginning. */
function readCursor(text = ""): MemberCursor | undefined {
  const [, createdAt, id = ""] = /^(\d{1,15})\.(.+)$/.exec(text) ?? [];
  return createdAt !== undefined && isUuid(id)
    ? { createdAt: Number(createdAt), id: id.toLowerCase() }
    : undefined;
}

/** Never empty: the reader is a member. */
async function showList(
  { database }: UsersDeps,
  visit: Visit,
  frame: ConsoleFrame,
  { user: reader }: SignedIn,
): Promise<Html> {
  const { values } = parseQuery(visit.request);
  const filters = readFilters(values);
  const { search, role, state: status } = filters;
  const after = readCursor(values.get("after"));
  const found = await listMembers(database.query, visit.organisation.id, {
    filter: { words: searchWords(search), ...(role && { role }), ...(status && { state: status }) },
    after,
    limit: ROWS_PER_PAGE + 1,
  });
  const { shown, last } = splitPage(found);
  const { frame: words, users } = frame.messages.console;
  const { list: text } = users;
  const done = values.get("done");
  return listPage({
    ...frame,
    ...pageUris((cursor) => listUri(visit, filters, cursor), after, last),
    title: words.pages.users,
    summary: text.summary({ organisation: visit.organisation.name }),
    path: "/users",
    create: { id: "user-new", label: text.make },
    done: done === "deleted" || done === "removed" ? users.done[done] : undefined,
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
    columns: [text.user, text.role, text.state, text.since],
    rows: shown.map((member) => memberRow(frame, member, member.id === reader.id)),
  });
}

function memberRow({ consoleUri, messages }: ConsoleFrame, member: ListedMember, isYou: boolean): Row {
  const { users: text } = messages.console;
  const name = displayName(member);
  const link = nameCell({
    name,
    uri: consoleUri(`/users/${member.id}`),
    // Tells users of one name apart.
    note: name === member.email ? undefined : html`<bdi>${member.email}</bdi>`,
  });
  return {
    id: `user-${member.id}`,
    cells: [
      html`${link}${isYou && html` <span class="tag">${text.you}</span>`}`,
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

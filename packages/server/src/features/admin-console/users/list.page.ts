import {
  type ListedMember,
  type MemberState,
  memberStates,
} from "../../../core/users/members/members.store.ts";
import type { Role } from "../../../core/users/user.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField } from "../../../html/components/fields.ts";
import { buttonLink, moment, state } from "../../../html/components/parts.ts";
import { successNotice } from "../../../html/components/record-form.ts";
import { nameCell, noResults, pager, searchForm, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { displayName } from "./user-path.ts";

export const roles: readonly Role[] = ["Standard", "Administrator"];

export type ListView = ConsoleFrame & {
  search: { search: string; role: Role | undefined; state: MemberState | undefined };
  members: readonly ListedMember[];
  /** The reader's PermId. */
  you: string;
  newestUri: string | undefined;
  olderUri: string | undefined;
  done: "deleted" | "removed" | undefined;
};

/** Never empty: the reader is a member. */
export function listPage(view: ListView): Html {
  const { messages, members } = view;
  const { frame, users: text } = messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.users,
    breadcrumbs: [],
    summary: text.list.summary({ organisation: view.organisation.name }),
    actions: buttonLink({
      id: "user-new",
      uri: view.consoleUri("/users/new"),
      label: text.list.make,
      isPrimary: true,
    }),
    notice: view.done && successNotice(text.done[view.done]),
    body: html`<section class="card" aria-label="${frame.pages.users}">
${search(view)}${members.length === 0 ? noResults(messages) : list(view)}${pager(view)}</section>
`,
  });
}

function search({ search: filters, consoleUri, messages }: ListView): Html {
  const { list: text, roles: roleNames, states } = messages.console.users;
  return searchForm({
    action: consoleUri("/users"),
    label: text.search,
    value: filters.search,
    isSearch: filters.search !== "" || filters.role !== undefined || filters.state !== undefined,
    filters: [
      selectField({
        id: "role",
        label: text.role,
        value: filters.role ?? "",
        choices: [
          { value: "", label: text.anyRole },
          ...roles.map((value) => ({ value, label: roleNames[value] })),
        ],
        messages,
      }),
      selectField({
        id: "state",
        label: text.state,
        value: filters.state ?? "",
        choices: [
          { value: "", label: text.anyState },
          ...memberStates.map((value) => ({ value, label: states[value] })),
        ],
        messages,
      }),
    ],
    messages,
  });
}

function list({ members, consoleUri, you, messages }: ListView): Html {
  const { frame, users: text } = messages.console;
  return table({
    label: frame.pages.users,
    columns: [text.list.user, text.list.role, text.list.state, text.list.since],
    rows: members.map((member) => ({
      id: `user-${member.id}`,
      cells: [
        html`${nameCell({ name: displayName(member), uri: consoleUri(`/users/${member.id}`), note: note(member) })}${member.id === you && html` <span class="tag">${text.you}</span>`}`,
        member.role === "Administrator" ? html`<b>${text.roles.Administrator}</b>` : text.roles.Standard,
        memberState(member, messages),
        moment(member.createdAt, messages.format.day),
      ],
    })),
    messages,
  });
}

/** Tells users of one name apart. */
function note(member: ListedMember): Content {
  if (displayName(member) === member.email) return undefined;
  return html`<bdi>${member.email}</bdi>`;
}

/** A guest may be disabled too. */
function memberState(
  { disabledAt, isInvited, home }: Pick<ListedMember, "disabledAt" | "isInvited" | "home">,
  { console: { users: text } }: Messages,
): Content {
  const kind =
    disabledAt !== null
      ? state("bad", text.states.disabled)
      : isInvited
        ? state("warn", text.states.invited)
        : state("good", text.states.active);
  return html`${kind}${home && html` <span class="quiet item-note"><bdi>${text.list.guestOf({ organisation: home.name })}</bdi></span>`}`;
}

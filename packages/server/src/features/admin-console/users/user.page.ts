import { consoleLayout } from "../../../html/components/console-layout.ts";
import {
  buttonLink,
  card,
  copyable,
  copyStatus,
  facts,
  moment,
  state,
} from "../../../html/components/parts.ts";
import { lastChangeLine, successNotice } from "../../../html/components/record-form.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { readableJson } from "../../../html/json.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { copyScript } from "../../../html/scripts.ts";
import { accessCards, activityCard, sessionsCard } from "./user-access.page.ts";
import { factorsCard, invitationCard } from "./user-factors.page.ts";
import { displayName, isGuest } from "./user-pages.ts";
import type { UserView } from "./user-view.ts";

export function userPage(view: UserView): Html {
  const { record: member, messages, isYou } = view;
  const { users: text } = messages.console;
  const name = displayName(member);
  return consoleLayout({
    ...view,
    title: name,
    heading: html`<bdi>${name}</bdi>`,
    summary: name === member.email ? undefined : html`<bdi>${member.email}</bdi>`,
    actions: buttonLink({
      id: "user-edit",
      uri: view.uriOf("/edit"),
      label: text.profile.edit,
      isPrimary: true,
    }),
    notice: view.done && successNotice(text.done[view.done]),
    scripts: [copyScript.path],
    body: [
      view.home && aside("guest-notice", text.guest.title, text.guest.text({ organisation: view.home.name })),
      isYou && aside("self-notice", text.self.title, text.self.text),
      profileCard(view),
      invitationCard(view),
      factorsCard(view),
      sessionsCard(view),
      ...accessCards(view),
      recordCard(view),
      activityCard(view),
      !isYou && endCard(view),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
    ],
  });
}

const aside = (id: string, title: string, text: string): Html =>
  html`<div class="notice hint" id="${id}"><p class="notice-title">${title}</p>
<p>${text}</p></div>
`;

function profileCard(view: UserView): Html {
  const { record: member, messages, home } = view;
  const { frame, users: text } = messages.console;
  const { profile } = text;
  const confirmed = member.emailVerified
    ? state("good", profile.confirmed)
    : state("warn", profile.unconfirmed);
  const email = html`<bdi id="user-email">${member.email}</bdi> ${confirmed}`;
  return card({
    id: "user-profile",
    title: profile.title,
    actions:
      !isGuest(member) &&
      buttonLink({ id: "user-address", uri: view.uriOf("/address"), label: profile.changeEmail }),
    body: facts([
      { label: profile.email, content: email },
      { label: profile.username, content: member.username !== null && html`<bdi>${member.username}</bdi>` },
      { label: profile.phone, content: member.phone },
      {
        label: profile.language,
        content: member.locale === null ? profile.anyLanguage : languageName(member.locale),
      },
      {
        label: profile.permId,
        content: copyable({ id: "perm-id", value: member.id, ...frame.secret, label: profile.copyPermId }),
      },
      { label: profile.role, content: text.roles[member.role], id: "user-role" },
      { label: profile.state, content: memberStatus(view), id: "user-state" },
      { label: profile.home, content: home && html`<bdi>${home.name}</bdi>` },
      { label: profile.since, content: moment(member.createdAt, messages.format.day) },
      {
        label: profile.lastSignIn,
        content:
          view.lastSignIn === undefined ? frame.never : moment(view.lastSignIn, messages.format.minute),
      },
    ]),
  });
}

function memberStatus({ record: member, account, messages }: UserView): Content {
  const { states } = messages.console.users;
  if (member.disabledAt !== null) return state("bad", states.disabled);
  if (account?.passwordChangedAt === null) return state("warn", states.invited);
  return state("good", states.active);
}

function recordCard({ record: member, messages }: UserView): Html {
  const { record } = messages.console.users;
  const { groups, attributes } = member.membership;
  return card({
    id: "user-record",
    title: record.title,
    text: record.text,
    body: facts([
      {
        label: record.groups,
        content:
          groups.length === 0
            ? record.none
            : html`<ul class="plain">${groups.map(
                (name) => html`<li><bdi>${name}</bdi></li>
`,
              )}</ul>`,
      },
      { label: record.attributes, content: !isGuest(member) && json(member.attributes, record.none) },
      { label: record.membershipAttributes, content: json(attributes, record.none) },
    ]),
  });
}

const json = (value: Readonly<Record<string, unknown>>, none: string): Content =>
  Object.keys(value).length === 0
    ? none
    : html`<pre class="json" tabindex="0"><code>${readableJson(value)}</code></pre>`;

/** Not on the administrator's own page: see ownAccountRefusal. */
function endCard(view: UserView): Html {
  const { record: member, home, messages, uriOf } = view;
  const { end } = messages.console.users;
  const button = (id: string, rest: string, label: string, isDangerous = true) =>
    buttonLink({ id, uri: uriOf(rest), label, isDangerous });
  const isDisabled = member.disabledAt !== null;
  const [text, ...acts] = home
    ? [end.removeText({ organisation: home.name }), button("user-remove", "/remove", end.remove)]
    : [
        `${isDisabled ? end.enableText : end.disableText} ${end.deleteText}`,
        isDisabled
          ? button("user-enable", "/enable", end.enable, false)
          : button("user-disable", "/disable", end.disable),
        button("user-delete", "/delete", end.delete),
      ];
  return card({
    id: "user-end",
    title: end.title,
    text,
    isDangerous: true,
    body: html`<div class="actions">${acts}</div>
`,
  });
}

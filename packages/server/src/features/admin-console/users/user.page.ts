/** What stands above the tabs of a user's page, and the first and the last of them. */

import { addressClaim } from "../../../core/scopes/profile-claims.ts";
import type { DetailName } from "../../../core/users/profile/details.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { badge } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import type { OverflowItem } from "../../../html/components/overflow-menu.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { readableJson } from "../../../html/json.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { endCard, endItems, type RecordParts } from "../../../page-kit/record-pages.ts";
import { invitationCard } from "./user-factors.page.ts";
import { displayName, isDisabledHere, isGuest } from "./user-pages.ts";
import type { Profile, UserView } from "./user-view.ts";

/** What stands above every tab. */
export function aboveUser(view: UserView): RecordParts {
  const { record: member, messages, isYou } = view;
  const { users: text } = messages.console;
  const name = displayName(member);
  return {
    head: {
      name,
      mark: avatar(name, undefined, { isRound: true }),
      facts: [
        html`<span id="user-state">${memberStatus(view)}</span>`,
        name !== member.email && html`<bdi>${member.email}</bdi>`,
      ],
      id: { id: "perm-id", value: member.id, label: text.profile.copyPermId },
    },
    more: isYou ? [] : moreActs(view),
    actions: buttonLink({
      id: "user-edit",
      uri: view.uriOf("/edit"),
      label: text.profile.edit,
    }),
    done: text.done,
  };
}

export function userOverview(view: UserView & Pick<Profile, "lastSignIn">): Content {
  const { messages, home, isYou } = view;
  const { users: text } = messages.console;
  return [
    home && aside("guest-notice", text.guest.title, text.guest.text({ organisation: home.name })),
    isYou && aside("self-notice", text.self.title, text.self.text),
    profileCard(view),
    invitationCard(view),
  ];
}

/** What programs know of the user, and the end of the account. */
export const userAdvanced = (view: UserView): Content => [
  attributesCard(view),
  !view.isYou && leaveCard(view),
];

/** Not on the administrator's own page: see ownAccountRefusal. */
function moreActs(view: UserView): OverflowItem[] {
  const { end, profile } = view.messages.console.users;
  const { uriOf } = view;
  if (view.home) {
    const remove = { id: "more-user-remove", uri: uriOf("/remove"), label: end.remove };
    const { isDangerous, ...status } = guestStatusAct(view);
    return [
      { ...status, id: `more-${status.id}`, isDangerous },
      { ...remove, isQuestion: true, isDangerous: true },
    ];
  }
  const address = { id: "more-user-address", uri: uriOf("/address"), label: profile.changeEmail };
  return [address, ...endItems(view, { ...end, noun: "user" })];
}

/** The guest's account is their home's: this is about the membership here. */
function guestStatusAct({ record, messages, uriOf }: UserView) {
  const { end } = messages.console.users;
  const act = isDisabledHere(record) ? "enable" : "disable";
  return {
    ...{ id: `user-${act}`, uri: uriOf(`/${act}`), label: end[act] },
    ...{ isQuestion: true, isDangerous: act === "disable" },
  };
}

const aside = (id: string, title: string, text: string): Html => banner("hint", id, title, text);

function profileCard(view: UserView & Pick<Profile, "lastSignIn">): Html {
  const { record: member, messages, home } = view;
  const { frame, users: text } = messages.console;
  const { profile } = text;
  const confirmed = member.emailVerified
    ? badge("good", profile.confirmed)
    : badge("warn", profile.unconfirmed);
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
      { label: profile.role, content: text.roles[member.role], id: "user-role" },
      { label: profile.home, content: home && html`<bdi>${home.name}</bdi>` },
      { label: profile.since, content: relativeTime(member.createdAt, messages.format.day) },
      {
        label: profile.lastSignIn,
        content:
          view.lastSignIn === undefined ? frame.never : relativeTime(view.lastSignIn, messages.format.minute),
      },
      ...detailFacts(view),
    ]),
  });
}

/** As text, web addresses too: what a user typed is no link for an administrator. */
function detailFacts({ record: member, messages: { profileDetails } }: UserView) {
  const { labels, groups } = profileDetails;
  const lines = (text: string | undefined) => text !== undefined && html`<bdi class="lines">${text}</bdi>`;
  const names = ["middleName", "nickname", "gender", "birthdate", "zoneinfo"] as const;
  const addresses = ["profileUrl", "website", "picture"] as const;
  const entry = (name: DetailName) => ({ label: labels[name], content: lines(member.details[name]) });
  const address = { label: groups.address, content: lines(addressClaim(member)?.["formatted"]) };
  return [...names.map(entry), address, ...addresses.map(entry)];
}

function memberStatus({ record: member, account, messages }: UserView): Content {
  const { states } = messages.console.users;
  if (member.disabledAt !== null) return badge("bad", states.disabled);
  if (account?.passwordChangedAt === null) return badge("warn", states.invited);
  return badge("good", states.active);
}

function attributesCard({ record: member, messages }: UserView): Html {
  const { record } = messages.console.users;
  return card({
    id: "user-record",
    title: record.title,
    text: record.text,
    body: facts([
      { label: record.attributes, content: !isGuest(member) && json(member.attributes, record.none) },
      { label: record.membershipAttributes, content: json(member.membership.attributes, record.none) },
    ]),
  });
}

const json = (value: Readonly<Record<string, unknown>>, none: string): Content =>
  Object.keys(value).length === 0
    ? none
    : html`<pre class="json" tabindex="0"><code>${readableJson(value)}</code></pre>`;

/** Not on the administrator's own page: see ownAccountRefusal. */
function leaveCard(view: UserView): Html {
  const { record: member, home, messages, uriOf } = view;
  const { end } = messages.console.users;
  const id = "user-end";
  if (!home) {
    const text = `${member.disabledAt === null ? end.disableText : end.enableText} ${end.deleteText}`;
    return endCard(view, { ...end, id, noun: "user", text });
  }
  const remove = {
    id: "user-remove",
    uri: uriOf("/remove"),
    label: end.remove,
    kind: "danger" as const,
    isQuestion: true,
  };
  const { isDangerous, ...status } = guestStatusAct(view);
  const kind = isDangerous ? ("danger" as const) : ("secondary" as const);
  return card({
    id,
    title: end.guestTitle,
    text: `${isDangerous ? end.disableGuestText : end.enableGuestText} ${end.removeText({ organisation: home.name })}`,
    isDangerous: true,
    body: html`<div class="actions">${buttonLink({ ...status, kind })}${buttonLink(remove)}</div>
`,
  });
}

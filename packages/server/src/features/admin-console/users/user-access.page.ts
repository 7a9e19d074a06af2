/** A member's sessions, and what gives them access: roles, groups, assigned applications and consents. */
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { groupsCard, rolesCard } from "./user-roles.page.ts";
import type { Access, Sessions, UserView } from "./user-view.ts";

export function sessionsCard(view: UserView & { sessions: Sessions }): Html {
  const { sessions, messages, uriOf } = view;
  const { users } = messages.console;
  const { sessions: text } = users;
  const list = table({
    label: text.title,
    columns: [text.browser, text.address, text.since, text.seen],
    rows: sessions.map((session, index) => {
      const { id, userAgent, address, createdAt, lastSeenAt } = session;
      const browser = browserName(userAgent) ?? text.unknown;
      return {
        id: `session-${id}`,
        cells: [
          nameCell({ name: browser, note: machineOf(view, session) }),
          html`<bdi>${address}</bdi>`,
          relativeTime(createdAt, messages.format.day),
          relativeTime(lastSeenAt, messages.format.minute),
        ],
        actions: rowLink({
          id: `session-end-${index}`,
          uri: uriOf(`/sessions/${id}/end`),
          text: text.end,
          label: text.endOf({ browser }),
        }),
      };
    }),
    none: text.none,
    messages,
  });
  const everywhere = { id: "user-sign-out", uri: uriOf("/sign-out"), label: text.everywhere };
  return card({
    id: "user-sessions",
    title: text.title,
    body: html`${list}<div class="actions">${buttonLink(everywhere)}</div>
`,
  });
}

/** What ties a session to a machine: the browser's key, a device of the organisation. */
function machineOf(
  { messages, consoleUri }: UserView,
  { boundKey, deviceId }: Sessions[number],
): Html | undefined {
  const { sessions: text } = messages.console.users;
  const notes = [
    boundKey ? html`${text.bound}` : undefined,
    deviceId
      ? html`<a href="${linkAddress(consoleUri(`/devices/${deviceId}`))}">${text.onDevice}</a>`
      : undefined,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? undefined : html`${notes[0]}${notes[1] && html` · ${notes[1]}`}`;
}

export function accessCards(view: UserView & Access): readonly Html[] {
  const { consents, assigned, messages, uriOf, consoleUri } = view;
  const { users } = messages.console;
  const { access: text } = users;
  const allowed = table({
    label: text.allowed,
    columns: [text.application, text.scopes, text.since],
    rows: consents.map(({ consent: { id, applicationId, scopes, grantedAt }, applicationName }, index) => ({
      id: `consent-${id}`,
      cells: [
        nameCell({ name: applicationName, uri: consoleUri(`/applications/${applicationId}`) }),
        html`<span class="codes-line">${scopes.map((name) => html`<code>${name}</code> `)}</span>`,
        relativeTime(grantedAt, messages.format.day),
      ],
      actions: rowLink({
        id: `consent-revoke-${index}`,
        uri: uriOf(`/consents/${id}/revoke`),
        text: text.revoke,
        label: text.revokeOf({ application: applicationName }),
      }),
    })),
    none: text.noneAllowed,
    messages,
  });
  const assignments =
    assigned.length === 0
      ? html`<p class="quiet">${text.noneAssigned}</p>
`
      : html`<ul class="plain">${assigned.map(
          ({ id, name }) =>
            html`<li><a href="${linkAddress(consoleUri(`/applications/${id}`))}"><bdi>${name}</bdi></a></li>
`,
        )}</ul>`;
  return [
    rolesCard(view),
    groupsCard(view),
    card({ id: "user-assigned", title: text.assigned, body: assignments }),
    card({ id: "user-consents", title: text.allowed, body: allowed }),
  ];
}

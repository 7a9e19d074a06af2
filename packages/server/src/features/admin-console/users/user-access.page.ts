/** A member's sessions, applications and activity. */
import { buttonLink, card, moment } from "../../../html/components/parts.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { UserView } from "./user-view.ts";

export function sessionsCard({ sessions, messages, uriOf }: UserView): Html {
  const { users } = messages.console;
  const { sessions: text } = users;
  const everywhere = { id: "user-sign-out", uri: uriOf("/sign-out"), label: text.everywhere };
  return card({
    id: "user-sessions",
    title: text.title,
    body: html`${
      sessions.length === 0
        ? html`<p class="quiet">${text.none}</p>
`
        : table({
            label: text.title,
            columns: [text.browser, text.address, text.since, text.seen],
            rows: sessions.map(({ id, browser = text.unknown, address, since, seen }, index) => ({
              id: `session-${id}`,
              cells: [
                nameCell({ name: browser }),
                html`<bdi>${address}</bdi>`,
                moment(since, messages.format.day),
                moment(seen, messages.format.minute),
              ],
              actions: rowLink({
                id: `session-end-${index}`,
                uri: uriOf(`/sessions/${id}/end`),
                text: text.end,
                label: text.endOf({ browser }),
              }),
            })),
            messages,
          })
    }<div class="actions">${buttonLink(everywhere)}</div>
`,
  });
}

export function accessCards({ consents, assigned, messages, uriOf }: UserView): readonly Html[] {
  const { users } = messages.console;
  const { access: text } = users;
  const allowed =
    consents.length === 0
      ? html`<p class="quiet">${text.noneAllowed}</p>
`
      : table({
          label: text.allowed,
          columns: [text.application, text.scopes, text.since],
          rows: consents.map(({ id, application, scopes, grantedAt }, index) => ({
            id: `consent-${id}`,
            cells: [
              nameCell(application),
              html`<span class="codes-line">${scopes.map((name) => html`<code>${name}</code> `)}</span>`,
              moment(grantedAt, messages.format.day),
            ],
            actions: rowLink({
              id: `consent-revoke-${index}`,
              uri: uriOf(`/consents/${id}/revoke`),
              text: text.revoke,
              label: text.revokeOf({ application: application.name }),
            }),
          })),
          messages,
        });
  const assignments =
    assigned.length === 0
      ? html`<p class="quiet">${text.noneAssigned}</p>
`
      : html`<ul class="plain">${assigned.map(
          ({ name, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${name}</bdi></a></li>
`,
        )}</ul>`;
  return [
    card({ id: "user-consents", title: text.allowed, body: allowed }),
    card({ id: "user-assigned", title: text.assigned, body: assignments }),
  ];
}

export function activityCard({ activity, audit, messages }: UserView): Html {
  const { users, auditLog } = messages.console;
  const { activity: text } = users;
  const names: Readonly<Record<string, string>> = auditLog.actions;
  const list =
    activity.length === 0
      ? html`<p class="quiet">${text.none}</p>
`
      : table({
          label: text.title,
          columns: [text.what, text.when, text.from],
          rows: activity.map(({ id, action, at, address }) => ({
            id: `event-${id}`,
            cells: [
              nameCell({ name: names[action] ?? action }),
              moment(at, messages.format.minute),
              address === undefined ? "–" : html`<bdi>${address}</bdi>`,
            ],
          })),
          messages,
        });
  return card({
    id: "user-activity",
    title: text.title,
    text: text.text,
    body: html`${list}<div class="actions">${buttonLink({ id: "audit-by", uri: audit.byThem, label: text.byThem })}${buttonLink({ id: "audit-to", uri: audit.toThem, label: text.toThem })}</div>
`,
  });
}

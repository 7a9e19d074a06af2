/** The page of one audit event. */

import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { queryString } from "../../../page-kit/page.ts";
import type { DisplayedEvent } from "./display-events.ts";
import { targetCell } from "./list.page.ts";

export type AuditEventView = ConsoleFrame & DisplayedEvent;

export function auditEventPage(view: AuditEventView): Html {
  const { messages } = view;
  const { frame } = messages.console;
  return consoleLayout({
    ...view,
    title: view.what,
    breadcrumbs: [{ label: frame.pages.auditLog, uri: view.consoleUri("/audit-log") }],
    body: [eventCard(view), detailsCard(view), chainCard(view)],
  });
}

function eventCard({ event, who, target, consoleUri, messages }: AuditEventView): Html {
  const { list, event: text } = messages.console.auditLog;
  const code = (value: string) => html`<code>${value}</code>`;
  const others = (id: string, filter: Readonly<Record<string, string | undefined>>, label: string) =>
    html`<br><a id="${id}" href="${linkAddress(consoleUri(`/audit-log${queryString(filter)}`))}">${label}</a>`;
  return card({
    id: "event",
    title: text.title,
    body: facts([
      { label: list.when, content: relativeTime(event.at, messages.format.minute), id: "event-when" },
      { label: text.id, content: code(event.id), id: "event-id" },
      { label: text.action, content: code(event.action), id: "event-action" },
      {
        label: list.who,
        content: html`<bdi>${who}</bdi> ${code(event.actor)}${others("same-who", { search: event.actor }, text.sameWho)}`,
        id: "event-who",
      },
      {
        label: list.target,
        content:
          target &&
          html`${targetCell(target)}${!target.isCode && html` <code>${event.target}</code>`}${others("same-target", { on: event.target }, text.sameTarget)}`,
        id: "event-target",
      },
      {
        label: list.address,
        content:
          event.address !== undefined &&
          html`${code(event.address)}${others("same-address", { address: event.address }, text.sameAddress)}`,
        id: "event-address",
      },
    ]),
  });
}

function detailsCard({ event, messages }: AuditEventView): Html | undefined {
  const entries = Object.entries(event.details);
  if (entries.length === 0) return undefined;
  const shown = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value));
  return card({
    id: "details",
    title: messages.console.auditLog.event.details,
    body: facts(
      entries.map(([name, value]) => ({ label: name, content: html`<code>${shown(value)}</code>` })),
    ),
  });
}

function chainCard({ event, messages }: AuditEventView): Html {
  const { chain, event: text } = messages.console.auditLog;
  if (event.seq === undefined) return card({ id: "chain", title: chain.title, text: text.waiting });
  return card({
    id: "chain",
    title: chain.title,
    body: facts([
      { label: text.place, content: messages.format.number(event.seq), id: "event-seq" },
      { label: text.hash, content: html`<code>${event.hash}</code>`, id: "event-hash" },
    ]),
  });
}

/** The page of one audit event. */

import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { drawerContent } from "../../../html/components/drawer.ts";
import { exactTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { DisplayedEvent } from "../../../page-kit/audit-events/display-events.ts";
import { queryString } from "../../../page-kit/page.ts";
import { linked, targetCell } from "./list.page.ts";

export type AuditEventView = ConsoleFrame & DisplayedEvent;

export function auditEventPage(view: AuditEventView): Html {
  const { messages } = view;
  const { frame } = messages.console;
  return consoleLayout({
    ...view,
    title: view.what,
    breadcrumbs: [{ label: frame.pages.auditLog, uri: view.consoleUri("/audit-log") }],
    body: drawerContent([eventCard(view), detailsCard(view), chainCard(view)]),
  });
}

function eventCard(view: AuditEventView): Html {
  const { event, who, reason, target, application, browser, typedEmail, messages } = view;
  const { list, event: text } = messages.console.auditLog;
  const code = (value: string) => html`<code>${value}</code>`;
  const others = (id: string, search: string | undefined, label: string) =>
    html`<br><a id="${id}" href="${linkAddress(view.consoleUri(`/audit-log${queryString({ search })}`))}">${label}</a>`;
  const requestId = event.context?.requestId;
  return card({
    id: "event",
    title: text.title,
    body: facts([
      { label: list.time, content: exactTime(event.at, messages.format.second), id: "event-when" },
      { label: text.reason, content: reason, id: "event-reason" },
      {
        label: list.actor,
        content: html`<bdi>${who}</bdi> ${code(event.actor)}${others("same-who", event.actor, text.sameWho)}`,
        id: "event-who",
      },
      {
        label: text.typedEmail,
        content: typedEmail !== undefined && html`<bdi>${typedEmail}</bdi>`,
        id: "event-typed-email",
      },
      {
        label: list.target,
        content:
          target &&
          html`${targetCell(target)}${!target.isCode && html` <code>${event.target}</code>`}${others("same-target", event.target, text.sameTarget)}`,
        id: "event-target",
      },
      {
        label: list.application,
        content:
          application &&
          html`${applicationCell(application)}${others("same-application", application.id, text.sameApplication)}`,
        id: "event-application",
      },
      {
        label: list.address,
        content:
          event.address !== undefined &&
          html`${code(event.address)}${others("same-address", event.address, text.sameAddress)}`,
        id: "event-address",
      },
      { label: text.browser, content: browser, id: "event-browser" },
      {
        label: text.reference,
        content:
          requestId !== undefined &&
          html`${code(requestId)}${others("same-request", requestId, text.sameRequest)}`,
        id: "event-reference",
      },
      { label: text.action, content: code(event.action), id: "event-action" },
      { label: text.id, content: code(event.id), id: "event-id" },
    ]),
  });
}

const applicationCell = ({ id, name, uri }: NonNullable<AuditEventView["application"]>): Html =>
  uri === undefined
    ? html`<code>${id}</code>`
    : html`<a href="${linkAddress(uri)}"><bdi>${name}</bdi></a> <code>${id}</code>`;

function detailsCard({ event, mentioned, messages }: AuditEventView): Html | undefined {
  // The reason is among the facts above, in the reader's language.
  const entries = Object.entries(event.details).filter(([name]) => name !== "reason");
  if (entries.length === 0) return undefined;
  const named = new Map(mentioned.map((one) => [one.value, one]));
  const shown = (value: string): Content => {
    const one = named.get(value);
    if (!one) return html`<code>${value}</code>`;
    return html`${linked(one.uri, html`<bdi>${one.name}</bdi>`)} <code>${value}</code>`;
  };
  const all = (value: unknown): Content => {
    const values = [value].flat().map(String);
    if (!values.some((one) => named.has(one))) return html`<code>${values.join(", ")}</code>`;
    return html`${values.map((one, index) => html`${index > 0 && html`<br>`}${shown(one)}`)}`;
  };
  return card({
    id: "details",
    title: messages.console.auditLog.event.details,
    body: facts(entries.map(([name, value]) => ({ label: name, content: all(value) }))),
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

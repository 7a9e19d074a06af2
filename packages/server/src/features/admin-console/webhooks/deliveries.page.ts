/** The deliveries tab of a webhook, and the page of one delivery. */
import { deliveryStates, type EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { exactTime, relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import { queryString, type Visit } from "../../../page-kit/page.ts";
import { countDeliveries, listDeliveries } from "./deliveries.store.ts";
import { patternText } from "./event-choice.ts";
import { DELIVERIES, hostOf, type WebhooksDeps, type WebhookView, webhookPages } from "./webhook-pages.ts";

type State = EventDelivery["state"];

function placeOf({ request }: Visit) {
  const { values } = parseQuery(request);
  const wanted = values.get("state") ?? "";
  return {
    after: readCursor(values.get("after")),
    state: deliveryStates.find((one) => one === wanted),
  };
}

type Place = ReturnType<typeof placeOf>;

export async function deliveriesOf(deps: WebhooksDeps, view: WebhookView, visit: Visit): Promise<Content> {
  const { messages, uriOf, record } = view;
  const { deliveries: text } = messages.console.webhooks;
  const place = placeOf(visit);
  const limit = ROWS_PER_PAGE + 1;
  const rows = await listDeliveries(deps.database.query, record, { ...place, limit });
  const { shown, last } = splitPage(rows);
  const counts = await countDeliveries(deps.database.query, record);
  const uri = (next?: string) => `${uriOf(DELIVERIES)}${queryString({ state: place.state, after: next })}`;
  return card({
    ...{ id: "deliveries", title: messages.console.frame.recordTabs.deliveries, text: text.text },
    actions:
      record.enabled &&
      counts.dead > 0 &&
      buttonLink({
        ...{ id: "retry-failed", uri: uriOf(`${DELIVERIES}/retry`), label: text.retryAll, isQuestion: true },
      }),
    body: [
      stateLinks(view, place),
      table({
        label: messages.console.frame.recordTabs.deliveries,
        columns: [text.event, text.at, text.state, text.attempts, text.response],
        rows: shown.map((delivery) => deliveryRow(view, delivery)),
        none: place.state === undefined ? text.none : text.noneSuch,
        messages,
      }),
      pagination({ ...pageUris(uri, place.after, last?.id), messages }),
    ],
  });
}

function stateLinks({ messages, uriOf }: WebhookView, place: Place): Html {
  const { deliveries: text, deliveryStates: names } = messages.console.webhooks;
  const link = (state: State | undefined) =>
    html`<a id="state-${state ?? "all"}" href="${linkAddress(`${uriOf(DELIVERIES)}${queryString({ state })}`)}"${state === place.state && html` aria-current="true"`}>${state === undefined ? text.all : names[state]}</a>`;
  return html`<nav class="views" aria-label="${text.state}">${[undefined, ...deliveryStates].map(link)}</nav>
`;
}

function deliveryRow({ messages, uriOf, record }: WebhookView, delivery: EventDelivery) {
  const { deliveries: text } = messages.console.webhooks;
  const { id, type, at } = delivery;
  const what = typeText(type, messages);
  const own = `${DELIVERIES}/${id}`;
  return {
    id: `delivery-${id}`,
    cells: [
      nameCell({ name: what, uri: uriOf(own), note: html`<code>${type}</code>` }),
      relativeTime(at, messages.format.second),
      stateBadge(delivery, messages),
      String(delivery.attempts),
      responseText(delivery),
    ],
    actions:
      record.enabled &&
      rowLink({
        ...{ id: `retry-${id}`, uri: uriOf(`${own}/retry`), text: text.retry },
        ...{ label: text.retryOf({ name: what }), isQuestion: true },
      }),
  };
}

const TEST = "webhook.test";

export const typeText = (type: string, messages: Messages): string =>
  type === TEST ? messages.console.webhooks.test.event : patternText(type, messages);

const kinds = { pending: "warn", delivered: "good", dead: "bad" } as const;

const stateBadge = ({ state }: EventDelivery, { console: { webhooks } }: Messages): Html =>
  badge(kinds[state], webhooks.deliveryStates[state]);

/** The status, and the fault in the service's own English words, for developers. */
const responseText = ({ lastStatus, lastError }: EventDelivery): Content => [
  lastStatus !== null && html`<code>${lastStatus}</code>`,
  lastError !== null && html`<span class="quiet item-note" lang="en">${lastError}</span>`,
];

/** @param done what was just done, as the address says it */
export function deliveryPage(
  frame: ConsoleFrame,
  given: {
    readonly webhook: WebhookView["record"];
    readonly delivery: EventDelivery;
    readonly done: string | undefined;
  },
): Html {
  const { messages } = frame;
  const { webhook, delivery, done } = given;
  const { webhooks: text } = messages.console;
  const { id, type } = delivery;
  const own = webhookPages.path({ id: webhook.orgId }, webhook.id, `${DELIVERIES}/${id}`);
  return consoleLayout({
    ...frame,
    breadcrumbs: webhookPages.crumbs(frame, webhook),
    title: typeText(type, messages),
    summary: text.deliveries.summary({ name: hostOf(webhook) }),
    notice: done === undefined ? undefined : toast(done, frame),
    actions:
      webhook.enabled &&
      buttonLink({
        id: "delivery-retry",
        uri: `${own}/retry`,
        label: text.deliveries.retry,
        isQuestion: true,
      }),
    body: [deliveryFacts(delivery, messages), payloadCard(delivery, messages), copyStatus],
  });
}

function deliveryFacts(delivery: EventDelivery, messages: Messages): Html {
  const { deliveries: text } = messages.console.webhooks;
  const { format } = messages;
  const { state, lastAttemptAt, nextAttemptAt, type, at } = delivery;
  return card({
    ...{ id: "delivery", title: text.state },
    body: facts([
      { label: text.state, id: "delivery-state", content: stateBadge(delivery, messages) },
      { label: text.event, content: html`<code>${type}</code>` },
      { label: text.at, content: exactTime(at, format.second) },
      { label: text.attempts, id: "delivery-attempts", content: String(delivery.attempts) },
      {
        label: text.lastAttempt,
        content: lastAttemptAt !== null && exactTime(lastAttemptAt, format.second),
      },
      {
        label: text.nextAttempt,
        content: state === "pending" && exactTime(nextAttemptAt, format.second),
      },
      {
        ...{ label: text.response, id: "delivery-response" },
        content: (delivery.lastStatus ?? delivery.lastError) !== null && html`${responseText(delivery)}`,
      },
    ]),
  });
}

function payloadCard({ id, body }: EventDelivery, { console: { webhooks, frame } }: Messages): Html {
  const { title, text } = webhooks.payload;
  return card({
    ...{ id: "payload", title, text },
    body: codeBlock({
      ...{ ...frame.secret, id: "delivery-payload", title: `webhook-id: ${id}` },
      lines: JSON.stringify(JSON.parse(body), null, 2),
    }),
  });
}

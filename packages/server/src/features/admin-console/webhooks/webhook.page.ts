/** What stands above every tab of a webhook, and its first one: where events go, which, and what a message looks like. */
import { webhookMessage } from "../../../core/webhooks/webhook-messages.ts";
import { tag } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { endItems, type RecordParts } from "../../../page-kit/record-pages.ts";
import { countDeliveries } from "./deliveries.store.ts";
import { ALL, patternText } from "./event-choice.ts";
import {
  DELIVERIES,
  hostOf,
  SETTINGS,
  type WebhooksDeps,
  type WebhookView,
  webhookStatus,
} from "./webhook-pages.ts";

/** As the acts that end a record take it. */
export const ending = ({ record: { enabled, updatedAt }, uriOf }: WebhookView) => ({
  record: { disabledAt: enabled ? null : updatedAt },
  uriOf,
});

export function aboveWebhook(view: WebhookView): RecordParts {
  const { record, messages, uriOf } = view;
  const { webhooks: text } = messages.console;
  return {
    head: {
      name: hostOf(record),
      mark: recordIcon("event"),
      facts: [html`<span id="webhook-state">${webhookStatus(record, messages)}</span>`],
      id: { id: "webhook-id", value: record.id, label: text.id },
    },
    actions:
      record.enabled &&
      buttonLink({ id: "webhook-test", uri: uriOf("/test"), label: text.test.button, isQuestion: true }),
    more: endItems(ending(view), { ...text.end, noun: "webhook" }),
    done: text.done,
  };
}

export async function webhookGeneral(deps: WebhooksDeps, view: WebhookView): Promise<Content> {
  const counts = await countDeliveries(deps.database.query, view.record);
  return [stateNotice(view), failedNotice(view, counts.dead), receiverCard(view, counts), messageCard(view)];
}

function stateNotice({ record, messages, uriOf }: WebhookView): Content {
  const { gone, paused, end } = messages.console.webhooks;
  if (record.enabled) return undefined;
  const { title, text } = record.disabledReason === "gone" ? gone : paused;
  const resume = buttonLink({ id: "to-enable", uri: uriOf("/enable"), label: end.enable, isQuestion: true });
  return banner("warning", "webhook-paused", title, text, resume);
}

function failedNotice({ messages, uriOf }: WebhookView, count: number): Content {
  const { failedNotice: text } = messages.console.webhooks;
  if (count === 0) return undefined;
  const uri = uriOf(`${DELIVERIES}?state=dead`);
  const show = buttonLink({ id: "to-failed", uri, label: text.show });
  return banner("warning", "webhook-failed", text.title({ count }), text.text, show);
}

function receiverCard(
  { record, messages, uriOf }: WebhookView,
  counts: Awaited<ReturnType<typeof countDeliveries>>,
): Html {
  const { webhooks: text, connections, frame } = messages.console;
  const events = record.events.includes(ALL)
    ? text.fields.which.all
    : html`<ul class="plain-list">${record.events.map((name) => html`<li>${patternText(name, messages)} ${tag(name)}</li>`)}</ul>`;
  return card({
    ...{ id: "receiver", title: text.columns.receiver },
    actions: buttonLink({ id: "to-settings", uri: uriOf(SETTINGS), label: connections.provider.edit }),
    body: facts([
      {
        label: text.fields.url.label,
        content: copyField({
          ...{ ...frame.secret, id: "webhook-url", value: record.url, label: text.fields.url.label },
        }),
      },
      { label: text.fields.events.label, content: events },
      {
        ...{ label: frame.recordTabs.deliveries, id: "webhook-counts" },
        content: text.counts({ total: counts.delivered, number: counts.pending, failed: counts.dead }),
      },
      { label: text.columns.created, content: relativeTime(record.createdAt, messages.format.day) },
    ]),
  });
}

const EXAMPLE_ID = "01998d6e-7c1a-7f2b-9d54-3f0c6f1b2a77";

/** A message as it is sent, of an event that this organisation could have. */
function messageCard({ record, messages }: WebhookView): Html {
  const { webhooks: text, frame } = messages.console;
  const event = {
    ...{ orgId: record.orgId, id: EXAMPLE_ID, at: record.createdAt, action: "user.disabled" },
    ...{ actor: `user:${EXAMPLE_ID}`, target: EXAMPLE_ID, details: {} },
  };
  const { body } = webhookMessage(event);
  const lines = [
    `POST ${URL.parse(record.url)?.pathname ?? "/"}`,
    "content-type: application/json",
    `webhook-id: ${EXAMPLE_ID}`,
    `webhook-timestamp: ${Math.floor(record.createdAt / 1_000)}`,
    "webhook-signature: v1,…",
    "",
    JSON.stringify(JSON.parse(body), null, 2),
  ];
  return card({
    ...{ id: "message", title: text.message.title, text: text.message.text },
    body: codeBlock({
      ...{ ...frame.secret, id: "webhook-message", title: text.message.example, lines: lines.join("\n") },
    }),
  });
}

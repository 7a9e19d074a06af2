/** webhooks/{id}/test, /deliveries/{delivery} and its retry, /deliveries/retry: what was sent, and sending it again. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findDelivery } from "../../../core/event-deliveries/deliveries.store.ts";
import type { EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import { resendDelivery, retryFailed, sendTest } from "../../../core/webhooks/replay.ts";
import { InvalidWebhook, type Webhook } from "../../../core/webhooks/webhook.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  type ConfirmationResult,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { doneKey, readingRoute } from "../../../page-kit/console-frame.ts";
import { pathParams, type Visit } from "../../../page-kit/page.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { deliveryPage, typeText } from "./deliveries.page.ts";
import { DELIVERIES, hostOf, type WebhooksDeps, webhookPages } from "./webhook-pages.ts";

export function webhookDeliveriesRoutes(app: FastifyInstance, deps: WebhooksDeps): void {
  readingRoute(
    app,
    deps,
    "/oauth/manage/:org/webhooks/:id/deliveries/:delivery",
    "webhooks",
    async (_, visit, frame) => {
      const sent = await requireSent(deps, visit);
      const key = doneKey(visit, frame.messages.console.webhooks.done);
      return deliveryPage(frame, {
        ...sent,
        done: key && frame.messages.console.webhooks.done[key],
      });
    },
  );
  confirmationRoute(app, deps, "/oauth/manage/:org/webhooks/:id/test", test);
  confirmationRoute(app, deps, "/oauth/manage/:org/webhooks/:id/deliveries/retry", retryAll);
  confirmationRoute(app, deps, "/oauth/manage/:org/webhooks/:id/deliveries/:delivery/retry", retry);
}

interface Sent {
  readonly webhook: Webhook;
  readonly delivery: EventDelivery;
}

async function findSent(
  deps: WebhooksDeps,
  organisation: { readonly id: string },
  { delivery: id = "", ...params }: Readonly<Record<string, string>>,
): Promise<Sent | undefined> {
  const webhook = await webhookPages.find(deps, organisation, params);
  if (!webhook || !isUuid(id)) return undefined;
  const key = { orgId: organisation.id, targetId: webhook.id, id };
  const delivery = await findDelivery(deps.database.query, key);
  return delivery && { webhook, delivery };
}

/** @throws NotFound */
async function requireSent(deps: WebhooksDeps, visit: Visit): Promise<Sent> {
  const sent = await findSent(deps, visit.organisation, pathParams(visit));
  if (!sent) throw new NotFound("delivery");
  return sent;
}

/** Nothing is sent by a webhook that is paused. @throws what is another fault */
function refusal(error: unknown, { console: { webhooks } }: Messages): ConfirmationResult {
  if (!(error instanceof InvalidWebhook)) throw error;
  const { title, text } = webhooks.paused;
  return { kind: "refused", title, text };
}

const test: Confirmation<WebhooksDeps, Webhook> = {
  ...aboutRecord(webhookPages, (webhook: Webhook) => webhook, DELIVERIES),
  isRepeatable: true,
  load: webhookPages.find,
  question: ({ console: { webhooks } }, webhook) => ({
    heading: webhooks.test.heading({ name: hostOf(webhook) }),
    text: webhooks.test.text,
    confirm: webhooks.test.button,
    confirmId: "webhook-test-confirm",
    isHarmless: true,
  }),
  apply: async (deps, acting, { id }, { organisation, messages }) => {
    try {
      const sent = await sendTest(deps, { ...acting, id });
      return sent
        ? applied(webhookPages.path(organisation, id, `${DELIVERIES}/${sent.id}?done=tested`))
        : alreadyApplied;
    } catch (error) {
      return refusal(error, messages);
    }
  },
};

const retry: Confirmation<WebhooksDeps, Sent> = {
  ...aboutRecord(webhookPages, ({ webhook }: Sent) => webhook),
  isRepeatable: true,
  load: findSent,
  backUri: (organisation, { webhook, delivery }) =>
    webhookPages.path(organisation, webhook.id, `${DELIVERIES}/${delivery.id}`),
  question: (messages, { delivery }) => {
    const { deliveries: text } = messages.console.webhooks;
    return {
      heading: text.retryHeading({ name: typeText(delivery.type, messages) }),
      text: text.retryText,
      confirm: text.retry,
      confirmId: "retry-confirm",
      isHarmless: true,
    };
  },
  apply: async (deps, acting, { webhook, delivery }, { messages }) => {
    try {
      const sent = await resendDelivery(deps, { ...acting, targetId: webhook.id, id: delivery.id });
      return sent ? done("retried") : alreadyApplied;
    } catch (error) {
      return refusal(error, messages);
    }
  },
};

const retryAll: Confirmation<WebhooksDeps, Webhook> = {
  ...aboutRecord(webhookPages, (webhook: Webhook) => webhook, DELIVERIES),
  isRepeatable: true,
  load: webhookPages.find,
  question: ({ console: { webhooks } }, webhook) => ({
    heading: webhooks.deliveries.retryAllHeading({ name: hostOf(webhook) }),
    text: webhooks.deliveries.retryAllText,
    confirm: webhooks.deliveries.retryAll,
    confirmId: "retry-failed-confirm",
    isHarmless: true,
  }),
  apply: async (deps, acting, { id }, { messages }) => {
    try {
      return (await retryFailed(deps, { ...acting, id })) ? done("retried") : alreadyApplied;
    } catch (error) {
      return refusal(error, messages);
    }
  },
};

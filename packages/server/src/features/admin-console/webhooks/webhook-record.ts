/** The page of a webhook, by its tabs. */
import type { Webhook } from "../../../core/webhooks/webhook.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import type { TabbedRecord } from "../../../page-kit/record-tabs.ts";
import { deliveriesOf } from "./deliveries.page.ts";
import { secretOf } from "./secret.page.ts";
import { aboveWebhook, webhookGeneral } from "./webhook.page.ts";
import { type WebhooksDeps, type WebhookView, webhookPages } from "./webhook-pages.ts";

export const webhookRecord: TabbedRecord<WebhooksDeps, Webhook, WebhookView> = {
  place: webhookPages,
  load: (_, view) => view,
  above: aboveWebhook,
  tabs: [
    { name: "general", url: "/oauth/manage/:org/webhooks/:id", content: webhookGeneral },
    { name: "deliveries", url: "/oauth/manage/:org/webhooks/:id/deliveries", content: deliveriesOf },
    { name: "secret", url: "/oauth/manage/:org/webhooks/:id/secret", content: secretOf },
    {
      name: "activity",
      url: "/oauth/manage/:org/webhooks/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "webhook", id }, messages),
    },
    // A form: settings.route.ts shows it.
    { name: "settings", url: "/oauth/manage/:org/webhooks/:id/settings" },
  ],
};

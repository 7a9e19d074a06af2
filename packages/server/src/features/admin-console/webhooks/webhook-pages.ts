/** Where the pages of webhooks are, and what they need. */
import { InvalidWebhook, MAX_WEBHOOKS, type Webhook } from "../../../core/webhooks/webhook.ts";
import { findWebhook } from "../../../core/webhooks/webhooks.store.ts";
import type { WebhookDeps } from "../../../core/webhooks/webhooks.ts";
import { badge } from "../../../html/components/badge.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type RecordView, recordPages } from "../../../page-kit/record-pages.ts";

export type WebhooksDeps = ConsoleDeps & WebhookDeps;

export const WEBHOOKS = "/webhooks";
/** Tabs, below a webhook's own address. */
export const DELIVERIES = "/deliveries";
export const SECRET = "/secret";
export const SETTINGS = "/settings";

/** The rest of an address may have a secret in it. */
export const hostOf = ({ url }: Pick<Webhook, "url">): string => URL.parse(url)?.host ?? url;

export const webhookPages = recordPages<Webhook>(
  "webhooks",
  WEBHOOKS,
  (db, orgId, id) => findWebhook(db, { orgId, id }),
  hostOf,
);

export type WebhookView = RecordView<Webhook>;

export function webhookStatus({ enabled, disabledReason }: Webhook, { console }: Messages): Html {
  const { states } = console.webhooks;
  if (enabled) return badge("good", states.enabled);
  return disabledReason === "gone" ? badge("bad", states.gone) : badge("plain", states.disabled);
}

/** What is about what was typed: by field, or about the form. */
export function webhookFaults(
  error: unknown,
  { console: { webhooks } }: Messages,
): FormState | FormFailure | undefined {
  if (!(error instanceof InvalidWebhook)) return undefined;
  const { faults, refused } = webhooks;
  if (error.code === "invalid-url") return { faults: { url: faults.url } };
  if (error.code === "no-events") return { faults: { events: faults.events } };
  if (error.code === "too-many-patterns" || error.code === "unknown-event")
    return { faults: { events: faults[error.code] } };
  if (error.code !== "too-many-webhooks") return undefined;
  return { kind: "refused", title: refused.title, text: refused.full({ count: MAX_WEBHOOKS }) };
}

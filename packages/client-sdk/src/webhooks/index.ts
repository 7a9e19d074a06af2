/**
 * Messages of Signet's webhooks (Standard Webhooks): `verifyWebhook` checks one and returns its event.
 *
 * @module webhooks
 */
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookMessage,
} from "./verify-webhook.ts";
export type { WebhookEvent, WebhookEventData } from "./webhook-event.ts";

/** What a webhook is sent (connections.md §8), and how: Standard Webhooks. */

import type { StoredEvent } from "../audit/audit.store.ts";
import { seconds } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import type { AttemptOutcome, EventDelivery, Message, TargetKind } from "../event-deliveries/target-kind.ts";
import { type Outbound, OutboundFailure } from "../outbound/outbound.ts";
import { matchesEvent, type Webhook } from "./webhook.ts";
import { signaturesOf, signingSecrets } from "./webhook-secret.ts";
import { findWebhook } from "./webhooks.store.ts";
import { disableGoneWebhook } from "./webhooks.ts";

export interface WebhookSendDeps extends CoreDeps {
  readonly encryption: Encryption;
  readonly outbound: Outbound;
}

type Told = Pick<StoredEvent, "orgId" | "id" | "at" | "actor" | "target" | "details"> & {
  readonly action: string;
};

/** The details of an audit event have no secrets; what it mentions of the request stays in the log. */
export function webhookMessage({ orgId, id, at, action, actor, target, details }: Told): Message {
  const data = { organisation: orgId, actor, target: target ?? null, details };
  const body = JSON.stringify({ id, type: action, timestamp: new Date(at).toISOString(), data });
  return { id, type: action, at, body };
}

export const webhookTargets = (deps: WebhookSendDeps): TargetKind => ({
  select: async (target, events) => {
    const webhook = await findWebhook(deps.database.query, target);
    const patterns = webhook?.events ?? [];
    return events.filter(({ action }) => matchesEvent(patterns, action)).map(webhookMessage);
  },
  attempt: async (delivery) => {
    const webhook = await findWebhook(deps.database.query, { ...delivery, id: delivery.targetId });
    if (!webhook) return { status: null, error: "the webhook was deleted", isFinal: true };
    return send(deps, webhook, delivery);
  },
});

async function send(
  deps: WebhookSendDeps,
  webhook: Webhook,
  { orgId, id, body }: EventDelivery,
): Promise<AttemptOutcome> {
  const now = deps.clock();
  const timestamp = seconds(now);
  const secrets = signingSecrets(deps.encryption, webhook, now);
  try {
    const { status } = await deps.outbound.call(orgId, webhook.url, {
      ...{ method: "POST", body, maxBytes: 0 },
      headers: {
        ...{ "content-type": "application/json", "webhook-id": id, "webhook-timestamp": String(timestamp) },
        "webhook-signature": signaturesOf(secrets, { id, timestamp, body }),
      },
    });
    if (status >= 200 && status < 300) return { status };
    const isGone = status === 410;
    if (isGone) await disableGoneWebhook(deps, webhook);
    return { status, error: `the receiver answered ${status}`, isFinal: isGone };
  } catch (error) {
    if (error instanceof OutboundFailure) return { status: null, error: error.message };
    throw error;
  }
}

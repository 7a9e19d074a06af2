/** Sends events again: one delivery, those of a time, or a test message. */
import { newUuid } from "@signet/protocol/uuid";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import {
  findDelivery,
  insertDeliveries,
  listDead,
  renewDelivery,
} from "../event-deliveries/deliveries.store.ts";
import type { EventDelivery } from "../event-deliveries/target-kind.ts";
import { extendQueue } from "../event-deliveries/targets.store.ts";
import { matchingEvents } from "./replay.store.ts";
import { InvalidWebhook, MAX_REPLAYED, matchesEvent, type Webhook, type WebhookKey } from "./webhook.ts";
import { webhookMessage } from "./webhook-messages.ts";
import { lockWebhook } from "./webhooks.store.ts";

/** A message that tells of no event. */
export const TEST_EVENT = "webhook.test";

/** @throws InvalidWebhook */
async function lockEnabled(tx: CoreDeps["database"]["query"], key: WebhookKey): Promise<Webhook | undefined> {
  const webhook = await lockWebhook(tx, key);
  if (webhook && !webhook.enabled) throw new InvalidWebhook("disabled");
  return webhook;
}

type Resend = Act & {
  readonly targetId: string;
  readonly id: string;
  check?(delivery: EventDelivery): Promise<void>;
};

/** @returns undefined when there is no such delivery. @throws InvalidWebhook */
export function resendDelivery(
  { database, clock }: CoreDeps,
  { targetId, id, check, ...act }: Resend,
): Promise<EventDelivery | undefined> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, targetId, id };
    const target = { orgId: act.orgId, id: targetId };
    if (!(await lockEnabled(tx, target))) return undefined;
    const now = clock();
    const after = await extendQueue(tx, target, { count: 1, now });
    const delivery = await findDelivery(tx, key);
    if (!delivery || after === undefined) return undefined;
    await check?.(delivery);
    const told = { action: "webhook.replayed" as const, target: targetId, details: { count: 1, event: id } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...told });
    return renewDelivery(tx, delivery, { position: after + 1, now });
  });
}

/**
 * All that were given up, in the order of their queue; of very many the oldest, the others the next time.
 * @returns how many; undefined when there is no such webhook. @throws InvalidWebhook
 */
export function retryFailed(
  { database, clock }: CoreDeps,
  { id, ...act }: Act & { readonly id: string },
): Promise<number | undefined> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    if (!(await lockEnabled(tx, key))) return undefined;
    const failed = await listDead(tx, key, MAX_REPLAYED);
    if (failed.length === 0) return 0;
    const now = clock();
    const after = await extendQueue(tx, key, { count: failed.length, now });
    await insertDeliveries(tx, key, failed, { after: after ?? 0, now, again: true });
    const told = { action: "webhook.replayed" as const, target: id, details: { count: failed.length } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...told });
    return failed.length;
  });
}

/** @returns undefined when there is no such webhook. @throws InvalidWebhook */
export function sendTest(
  { database, clock }: CoreDeps,
  { id: webhookId, ...act }: Act & { readonly id: string },
): Promise<EventDelivery | undefined> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id: webhookId };
    const webhook = await lockEnabled(tx, key);
    if (!webhook) return undefined;
    const now = clock();
    const id = newUuid();
    const by = { orgId: act.orgId, actor: act.actor, target: webhookId };
    const event = { ...by, id, at: now, action: TEST_EVENT, details: {} };
    const after = await extendQueue(tx, key, { count: 1, now });
    await insertDeliveries(tx, key, [webhookMessage(event)], { after: after ?? 0, now });
    const told = { action: "webhook.tested" as const, target: webhookId };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...told });
    return findDelivery(tx, { orgId: act.orgId, targetId: webhookId, id });
  });
}

export interface Replayed {
  /** Milliseconds; `to` is not part of it. */
  readonly from: number;
  readonly to: number;
  /** Of those that the webhook takes. */
  readonly events: readonly string[] | undefined;
}

/** Events of a time that the webhook takes, as far as the audit log has them. @returns how many. @throws InvalidWebhook */
export function replayEvents(
  { database, clock }: CoreDeps,
  { id, from, to, events: wanted = ["*"], ...act }: Act & Replayed & { readonly id: string },
): Promise<number | undefined> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const webhook = await lockEnabled(tx, key);
    if (!webhook) return undefined;
    const isWanted = (action: string) => matchesEvent(webhook.events, action) && matchesEvent(wanted, action);
    const events = await matchingEvents(tx, key.orgId, { from, to, limit: MAX_REPLAYED + 1, isWanted });
    if (events.length > MAX_REPLAYED) throw new InvalidWebhook("too-many-events", "/from");
    if (events.length === 0) return 0;
    const now = clock();
    const after = await extendQueue(tx, key, { count: events.length, now });
    const queued = { after: after ?? 0, now, again: true };
    await insertDeliveries(tx, key, events.map(webhookMessage), queued);
    const told = { action: "webhook.replayed" as const, target: id, details: { count: events.length } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...told });
    return events.length;
  });
}

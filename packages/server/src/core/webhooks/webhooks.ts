/** Creates, changes, rotates and deletes webhooks (connections.md §1, §8). */
import { newUuid } from "@signet/protocol/uuid";
import { isCallable } from "../applications/validation.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { deleteTarget, insertTarget, setFlow } from "../event-deliveries/targets.store.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import {
  InvalidWebhook,
  isEventPattern,
  MAX_EVENTS,
  MAX_URL_LENGTH,
  MAX_WEBHOOKS,
  WEBHOOK,
  type Webhook,
} from "./webhook.ts";
import { newWebhookSecret, openWebhookSecret, sealWebhookSecret } from "./webhook-secret.ts";
import {
  deleteWebhookRow,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  replaceWebhook,
} from "./webhooks.store.ts";

export interface WebhookDeps extends CoreDeps {
  readonly encryption: Encryption;
}

export type WebhookSettings = Pick<Webhook, "url" | "events" | "enabled">;

type OfWebhook = Act & { readonly id: string; check?(webhook: Webhook): Promise<void> };

/** @throws InvalidWebhook */
function requireValid({ url, events }: Partial<WebhookSettings>): void {
  if (url !== undefined && (url.length > MAX_URL_LENGTH || !isCallable(url)))
    throw new InvalidWebhook("invalid-url", "/url");
  if (events?.length === 0) throw new InvalidWebhook("no-events", "/events");
  if (events && events.length > MAX_EVENTS) throw new InvalidWebhook("too-many-patterns", "/events");
  const unknown = events?.findIndex((pattern) => !isEventPattern(pattern)) ?? -1;
  if (unknown >= 0) throw new InvalidWebhook("unknown-event", `/events/${unknown}`);
}

/** @returns the webhook with its secret, which is never shown again. @throws InvalidWebhook */
export function createWebhook(
  deps: WebhookDeps,
  { settings, ...act }: Act & { readonly settings: WebhookSettings },
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  requireValid(settings);
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    // Of two at once the second counts the first.
    await lockOrganisation(tx, act.orgId);
    if ((await listWebhooks(tx, act.orgId)).length >= MAX_WEBHOOKS)
      throw new InvalidWebhook("too-many-webhooks");
    const key = { orgId: act.orgId, id: newUuid() };
    const secret = newWebhookSecret();
    const webhook: Webhook = {
      ...{ ...key, ...settings, events: [...new Set(settings.events)], disabledReason: null },
      ...{ secret: sealWebhookSecret(deps.encryption, key, secret), previousSecret: null },
      ...{ previousUntil: null, createdAt: now, updatedAt: now, version: 1 },
    };
    await insertWebhook(tx, webhook);
    const { enabled } = settings;
    await insertTarget(tx, { ...key, kind: WEBHOOK, isFed: enabled, isSent: enabled });
    const details = { url: addressOf(webhook), events: webhook.events };
    const event = { action: "webhook.created" as const, target: key.id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return { webhook, secret };
  });
}

/** Some receivers have a secret in their address: the audit log names where it is, and no more. */
const addressOf = ({ url }: Pick<Webhook, "url">): string => URL.parse(url)?.origin ?? "";

/**
 * Does nothing when nothing changes. A disabled webhook keeps what waits, and takes nothing more until it is enabled.
 * @param check of the present record, locked; throwing rolls back
 * @returns undefined when there is none
 * @throws InvalidWebhook
 */
export function changeWebhook(
  deps: CoreDeps,
  { id, change, check, ...act }: OfWebhook & { readonly change: Partial<WebhookSettings> },
): Promise<Webhook | undefined> {
  requireValid(change);
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const before = await lockWebhook(tx, key);
    if (!before) return undefined;
    await check?.(before);
    const wanted = { ...before, ...change };
    const changed = (["url", "events", "enabled"] as const).filter(
      (name) => JSON.stringify(wanted[name]) !== JSON.stringify(before[name]),
    );
    if (changed.length === 0) return before;
    const now = deps.clock();
    const { enabled } = wanted;
    const disabledReason = enabled ? null : before.disabledReason;
    const webhook = { ...wanted, disabledReason, updatedAt: now, version: before.version + 1 };
    await replaceWebhook(tx, webhook);
    if (enabled !== before.enabled)
      await setFlow(tx, key, { isFed: enabled, isSent: enabled, skips: enabled });
    const event = { action: "webhook.changed" as const, target: id, details: { changed } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return webhook;
  });
}

/** Its receiver wants nothing more (410). Does nothing when it is disabled already. */
export function disableGoneWebhook(deps: CoreDeps, key: Pick<Webhook, "orgId" | "id">): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const before = await lockWebhook(tx, key);
    if (!before?.enabled) return;
    const now = deps.clock();
    const ended = { enabled: false, disabledReason: "gone", updatedAt: now, version: before.version + 1 };
    await replaceWebhook(tx, { ...before, ...ended });
    await setFlow(tx, key, { isFed: false, isSent: false, skips: false });
    const details = { changed: ["enabled"], reason: "gone" };
    const event = { action: "webhook.changed" as const, target: key.id, details };
    await recordAuditEvent(tx, { orgId: key.orgId, actor: "system", at: now, ...event });
  });
}

/** The secret before signs too, for a time. @returns undefined when there is none */
export function rotateWebhookSecret(
  { database, clock, encryption }: WebhookDeps,
  { id, overlapSeconds, check, ...act }: OfWebhook & { readonly overlapSeconds: number },
): Promise<{ readonly webhook: Webhook; readonly secret: string } | undefined> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const before = await lockWebhook(tx, key);
    if (!before) return undefined;
    await check?.(before);
    const now = clock();
    const secret = newWebhookSecret();
    const previous = openWebhookSecret(encryption, before);
    const overlaps = overlapSeconds > 0;
    const webhook: Webhook = {
      ...{ ...before, secret: sealWebhookSecret(encryption, key, secret) },
      previousSecret: overlaps ? sealWebhookSecret(encryption, key, previous, "previous_secret") : null,
      previousUntil: overlaps ? now + overlapSeconds * 1_000 : null,
      ...{ updatedAt: now, version: before.version + 1 },
    };
    await replaceWebhook(tx, webhook);
    const details = { changed: ["secret"], overlapSeconds };
    const event = { action: "webhook.changed" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return { webhook, secret };
  });
}

/** With what waits for it. @returns false when there is none */
export function deleteWebhook(deps: CoreDeps, { id, check, ...act }: OfWebhook): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const webhook = await lockWebhook(tx, key);
    if (!webhook) return false;
    await check?.(webhook);
    await deleteTarget(tx, key);
    await deleteWebhookRow(tx, key);
    const details = { url: addressOf(webhook) };
    const event = { action: "webhook.deleted" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}

/** Stores webhooks of organisations. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { WebhookTable } from "../../db/tables/events.ts";
import type { Webhook, WebhookKey } from "./webhook.ts";

const fromRow = (row: WebhookTable): Webhook => ({
  ...toRecord(row),
  enabled: row.enabled === 1,
  events: JSON.parse(row.events) as string[],
});

const rowOf = (webhook: Webhook): WebhookTable => ({
  ...toRow(webhook),
  enabled: webhook.enabled ? 1 : 0,
  events: JSON.stringify(webhook.events),
});

export async function insertWebhook(tx: Db, webhook: Webhook): Promise<void> {
  await tx.insertInto("webhook").values(rowOf(webhook)).execute();
}

export async function findWebhook(db: Db, { orgId, id }: WebhookKey): Promise<Webhook | undefined> {
  const row = await db
    .selectFrom("webhook")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockWebhook(tx: Db, { orgId, id }: WebhookKey): Promise<Webhook | undefined> {
  const row = await tx
    .updateTable("webhook")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it. */
export async function replaceWebhook(tx: Db, webhook: Webhook): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(webhook);
  await tx
    .updateTable("webhook")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deleteWebhookRow = (tx: Db, { orgId, id }: WebhookKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("webhook").where((eb) => allOf(eb, { org_id: orgId, id })));

/** All of them: their number is bounded. */
export async function listWebhooks(db: Db, orgId: string): Promise<Webhook[]> {
  const rows = await db
    .selectFrom("webhook")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

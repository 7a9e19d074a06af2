/** The tables of the outbox: claiming a due row and recording the outcome of its attempt. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { LogoutDeliveryTable, OutgoingMailTable } from "../../db/tables/messages.ts";

interface OutboxTables {
  outgoing_mail: OutgoingMailTable;
  logout_delivery: LogoutDeliveryTable;
}

/** Each table has columns of its own for what is delivered, and shares those for when. */
export interface OutboxTable<Name extends keyof OutboxTables = keyof OutboxTables> {
  readonly name: Name;
  readonly deliveredAt: "sent_at" | "delivered_at";
  /** Whose rows of an organisation share one queue: one slow or busy queue does not hold up the others. */
  readonly queueBy: "org_id" | "application_id";
  /** What is erased once the row is delivered or given up. */
  readonly erased: { readonly data?: "" };
}

export type OutboxTableRow<Name extends keyof OutboxTables> = OutboxTables[Name];

export interface OutboxRow {
  readonly orgId: string;
  readonly id: string;
  /** Including the attempt under way. */
  readonly attempts: number;
}

/**
 * Claims a due row for one attempt: the first node has it until `until`. If that node dies, the row is due again then.
 * @returns undefined when another node was faster
 */
export async function claimRow<Name extends keyof OutboxTables>(
  db: Db,
  table: OutboxTable<Name>,
  { orgId, id }: OutboxRow,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<OutboxTables[Name] | undefined> {
  const { name, deliveredAt }: OutboxTable = table;
  const row = await db
    .updateTable(name)
    .set((eb) => ({ attempts: eb("attempts", "+", 1), next_attempt_at: until }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .where("next_attempt_at", "<=", now)
    .where(deliveredAt, "is", null)
    .where("failed_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  return row as OutboxTables[Name] | undefined;
}

export type OutboxOutcome =
  | { readonly deliveredAt: number; readonly keepsContent: boolean }
  | { readonly nextAttemptAt: number; readonly error: string }
  | { readonly failedAt: number; readonly error: string };

/** A failure has no effect when another node has claimed the row meanwhile. */
export async function recordOutcome(
  db: Db,
  { name, deliveredAt, erased }: OutboxTable,
  { orgId, id, attempts }: OutboxRow,
  outcome: OutboxOutcome,
): Promise<void> {
  const update = db
    .updateTable(name)
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .where(deliveredAt, "is", null);
  if ("deliveredAt" in outcome) {
    const content = outcome.keepsContent ? {} : erased;
    await update.set({ [deliveredAt]: outcome.deliveredAt, last_error: null, ...content }).execute();
    return;
  }
  const { error: last_error } = outcome;
  const change =
    "failedAt" in outcome
      ? { failed_at: outcome.failedAt, last_error, ...erased }
      : { next_attempt_at: outcome.nextAttemptAt, last_error };
  await update.set(change).where("attempts", "=", attempts).execute();
}

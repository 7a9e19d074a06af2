/** The tables of the outbox: finding due rows, claiming one, recording the outcome, deleting old ones. */

import { type RawBuilder, sql } from "kysely";
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
  /** Whose rows share one queue: one slow or busy queue does not hold up the others. */
  readonly queueBy: ReadonlyArray<"org_id" | "application_id">;
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

/** A row that is due. */
export interface DueRow extends OutboxRow {
  /** Which queue it is in, with the organisation's id. */
  readonly queue: string;
  /** Its place among the due rows of its organisation: 1 is the first. */
  readonly place: number;
  readonly nextAttemptAt: number;
}

/** How many due rows are looked at: at most this many organisations take turns at a time. */
const MAX_DUE = 500;

/**
 * Due rows: of each organisation and each queue the longest waiting, at most as many as may be under way; first rows of all
 * organisations before second ones.
 * @param full organisations to leave out
 */
export async function findDueRows(
  db: Db,
  { name, deliveredAt, queueBy }: OutboxTable,
  now: number,
  limits: { readonly organisation: number; readonly queue: number },
  full: readonly string[] = [],
): Promise<DueRow[]> {
  const queue = sql<string>`${sql.join(
    queueBy.map((column) => sql.ref(column)),
    sql` || '/' || `,
  )}`;
  const placeIn = (group: RawBuilder<unknown>) =>
    sql<number>`row_number() over (partition by ${group} order by next_attempt_at, id)`;
  return db
    .selectFrom((outer) =>
      outer
        .selectFrom((inner) =>
          inner
            .selectFrom(name)
            .select(["org_id", "id", "attempts", "next_attempt_at", queue.as("queue")])
            .select(placeIn(queue).as("place_in_queue"))
            .where("next_attempt_at", "<=", now)
            .where(deliveredAt, "is", null)
            .where("failed_at", "is", null)
            .$if(full.length > 0, (query) => query.where("org_id", "not in", [...full]))
            .as("due"),
        )
        .selectAll()
        .select(placeIn(sql.ref("org_id")).as("place"))
        .where("place_in_queue", "<=", limits.queue)
        .as("placed"),
    )
    .select(["org_id as orgId", "id", "attempts", "next_attempt_at as nextAttemptAt", "queue", "place"])
    .where("place", "<=", limits.organisation)
    .orderBy("place")
    .orderBy("next_attempt_at")
    .limit(MAX_DUE)
    .execute();
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

/** Deliveries of events, in the order of each target's queue. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";
import type { EventDeliveryTable } from "../../db/tables/events.ts";
import type { EventDelivery, Message, TargetKey } from "./target-kind.ts";

const fromRow = (row: EventDeliveryTable): EventDelivery => ({
  ...toRecord(row),
  state: row.state as EventDelivery["state"],
});

/** Databases limit the parameters of a statement. */
const MAX_ROWS = 500;

/** Of one target: a receiver that never answers, or never fetches, does not fill the database. */
export const MAX_WAITING = 100_000;

interface Queued {
  /** The last position of the queue before. */
  readonly after: number;
  readonly now: number;
  /** Whether an event that was delivered, or given up, is sent again. */
  readonly again?: boolean;
}

/** At the end of the queue; what waits there already keeps its place. The oldest of a queue that is too long are given up. */
export async function insertDeliveries(
  tx: Db,
  { orgId, id }: TargetKey,
  messages: readonly Message[],
  { after, now, again = false }: Queued,
): Promise<void> {
  const rows = messages.map((message, index) => ({
    ...{ org_id: orgId, target_id: id, id: message.id, position: after + 1 + index },
    ...{ type: message.type, at: message.at, body: message.body, state: "pending", attempts: 0 },
    ...{ next_attempt_at: now, last_attempt_at: null, last_status: null, last_error: null },
    ...{ settled_at: null, created_at: now, updated_at: now },
  }));
  for (let from = 0; from < rows.length; from += MAX_ROWS)
    await tx
      .insertInto("event_delivery")
      .values(rows.slice(from, from + MAX_ROWS))
      .onConflict((conflict) => {
        const same = conflict.columns(["org_id", "target_id", "id"]);
        if (!again) return same.doNothing();
        return same
          .doUpdateSet((eb) => ({
            ...{ state: "pending", attempts: 0, settled_at: null, next_attempt_at: now, updated_at: now },
            position: eb.ref("excluded.position"),
          }))
          .where("event_delivery.state", "!=", "pending");
      })
      .execute();
  const last = after + messages.length;
  if (last > MAX_WAITING) await giveUp(tx, { orgId, id }, { upTo: last - MAX_WAITING, now });
}

async function giveUp(
  tx: Db,
  { orgId, id }: TargetKey,
  { upTo, now }: { readonly upTo: number; readonly now: number },
): Promise<void> {
  await tx
    .updateTable("event_delivery")
    .set({ state: "dead", last_error: "too many were waiting", settled_at: now, updated_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id, state: "pending" }))
    .where("position", "<=", upTo)
    .execute();
}

const firstPending = (db: Db, { orgId, id }: TargetKey) =>
  db
    .selectFrom("event_delivery")
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id, state: "pending" }))
    .orderBy("position")
    .limit(1);

/**
 * The first delivery of a queue whose time has come, with this attempt counted.
 * @param until when it is tried again if the node dies
 */
export async function takeFirst(
  db: Db,
  target: TargetKey,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<EventDelivery | undefined> {
  const row = await db
    .updateTable("event_delivery")
    .set((eb) => ({
      attempts: eb("attempts", "+", 1),
      ...{ last_attempt_at: now, next_attempt_at: until, updated_at: now },
    }))
    .where((eb) => allOf(eb, { org_id: target.orgId, target_id: target.id, state: "pending" }))
    .where("id", "=", firstPending(db, target).select("id"))
    .where("next_attempt_at", "<=", now)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** When the first delivery of a queue is tried; undefined when none waits. */
export async function firstAttemptAt(db: Db, target: TargetKey): Promise<number | undefined> {
  return (await firstPending(db, target).select("next_attempt_at").executeTakeFirst())?.next_attempt_at;
}

export type Outcome =
  | { readonly state: "delivered" | "dead"; readonly at: number }
  | { readonly state: "pending"; readonly at: number; readonly nextAttemptAt: number };

/** No effect when it was sent again meanwhile. */
export async function recordAttempt(
  db: Db,
  { orgId, targetId, id, attempts }: EventDelivery,
  outcome: Outcome & { readonly status: number | null; readonly error: string | null },
): Promise<void> {
  const { state, at, status, error } = outcome;
  const when = outcome.state === "pending" ? { next_attempt_at: outcome.nextAttemptAt } : { settled_at: at };
  await db
    .updateTable("event_delivery")
    .set({ state, last_status: status, last_error: error, updated_at: at, ...when })
    .where((eb) => allOf(eb, { org_id: orgId, target_id: targetId, id, attempts, state: "pending" }))
    .execute();
}

export async function findDelivery(
  db: Db,
  { orgId, targetId, id }: { readonly orgId: string; readonly targetId: string; readonly id: string },
): Promise<EventDelivery | undefined> {
  const row = await db
    .selectFrom("event_delivery")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, target_id: targetId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Tried at once, with all attempts ahead; one that is settled goes to the end of the queue. */
export async function renewDelivery(
  tx: Db,
  { orgId, targetId, id, state }: EventDelivery,
  { position, now }: { readonly position: number; readonly now: number },
): Promise<EventDelivery | undefined> {
  const row = await tx
    .updateTable("event_delivery")
    .set({
      ...{ state: "pending", attempts: 0, settled_at: null, next_attempt_at: now, updated_at: now },
      ...(state === "pending" ? {} : { position }),
    })
    .where((eb) => allOf(eb, { org_id: orgId, target_id: targetId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** What waits is not sent any more. @param type of one type only */
export async function deletePending(tx: Db, { orgId, id }: TargetKey, type?: string): Promise<void> {
  await tx
    .deleteFrom("event_delivery")
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id, state: "pending" }))
    .$if(type !== undefined, (query) => query.where("type", "=", type ?? ""))
    .execute();
}

/** Of the first delivery that waits. */
export async function firstPosition(db: Db, target: TargetKey): Promise<number | undefined> {
  return (await firstPending(db, target).select("position").executeTakeFirst())?.position;
}

/** Those that were given up, the first of the queue first. */
export const listDead = (db: Db, { orgId, id }: TargetKey, limit: number): Promise<Message[]> =>
  db
    .selectFrom("event_delivery")
    .select(["id", "type", "at", "body"])
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id, state: "dead" }))
    .orderBy("position")
    .limit(limit)
    .execute();

/** The first of a queue, for a receiver that fetches them. @param which.type of one type only */
export async function listPending(
  db: Db,
  { orgId, id }: TargetKey,
  { limit, type }: { readonly limit: number; readonly type?: string },
): Promise<EventDelivery[]> {
  const rows = await db
    .selectFrom("event_delivery")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id, state: "pending" }))
    .$if(type !== undefined, (query) => query.where("type", "=", type ?? ""))
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(fromRow);
}

/** A receiver that fetches says what became of them. @param ids few enough for one statement */
export async function settlePending(
  db: Db,
  { orgId, id }: TargetKey,
  ids: readonly string[],
  {
    state,
    error,
    at,
  }: { readonly state: "delivered" | "dead"; readonly error: string | null; readonly at: number },
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable("event_delivery")
    .set({ state, last_error: error, settled_at: at, last_attempt_at: at, updated_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id, state: "pending" }))
    .where("id", "in", ids)
    .execute();
}

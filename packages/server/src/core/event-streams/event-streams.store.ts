/** Stores event streams, and the users that they leave out. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { EventStreamTable } from "../../db/tables/events.ts";
import type { EventStream, StreamKey } from "./event-stream.ts";

export const toStream = (row: EventStreamTable): EventStream => ({
  ...toRecord(row),
  status: row.status as EventStream["status"],
  method: row.method as EventStream["method"],
  eventsRequested: JSON.parse(row.events_requested) as string[],
});

const rowOf = (stream: EventStream): EventStreamTable => ({
  ...toRow(stream),
  events_requested: JSON.stringify(stream.eventsRequested),
});

export async function insertStream(tx: Db, stream: EventStream): Promise<void> {
  await tx.insertInto("event_stream").values(rowOf(stream)).execute();
}

export async function findStream(db: Db, { orgId, id }: StreamKey): Promise<EventStream | undefined> {
  const row = await db
    .selectFrom("event_stream")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && toStream(row);
}

/** Of one client: their number is bounded. */
export async function listStreams(db: Db, orgId: string, clientId: string): Promise<EventStream[]> {
  const rows = await db
    .selectFrom("event_stream")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, client_id: clientId }))
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(toStream);
}

/** Locks it until the end of the transaction. */
export async function lockStream(tx: Db, { orgId, id }: StreamKey): Promise<EventStream | undefined> {
  const row = await tx
    .updateTable("event_stream")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && toStream(row);
}

/** The caller has locked it. */
export async function replaceStream(tx: Db, stream: EventStream): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(stream);
  await tx
    .updateTable("event_stream")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

/** With the users that it leaves out. */
export async function deleteStreamRow(tx: Db, { orgId, id }: StreamKey): Promise<void> {
  await tx
    .deleteFrom("event_stream_removed")
    .where((eb) => allOf(eb, { org_id: orgId, stream_id: id }))
    .execute();
  await tx
    .deleteFrom("event_stream")
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** @returns whether a verification event may be sent now, and notes that it was */
export const takeVerification = (
  db: Db,
  { orgId, id }: StreamKey,
  { now, minMs }: { readonly now: number; readonly minMs: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("event_stream")
      .set({ verified_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("verified_at", "<=", now - minMs),
  );

/** @returns false when it is left out already */
export const insertRemoved = (db: Db, { orgId, id }: StreamKey, userId: string): Promise<boolean> =>
  hasRow(
    db
      .insertInto("event_stream_removed")
      .values({ org_id: orgId, stream_id: id, user_id: userId })
      .onConflict((conflict) => conflict.columns(["org_id", "stream_id", "user_id"]).doNothing())
      .returning("user_id"),
  );

/** @returns false when it was not left out */
export const deleteRemoved = (db: Db, { orgId, id }: StreamKey, userId: string): Promise<boolean> =>
  affectsAny(
    db
      .deleteFrom("event_stream_removed")
      .where((eb) => allOf(eb, { org_id: orgId, stream_id: id, user_id: userId })),
  );

export async function countRemoved(db: Db, { orgId, id }: StreamKey): Promise<number> {
  const row = await db
    .selectFrom("event_stream_removed")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where((eb) => allOf(eb, { org_id: orgId, stream_id: id }))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Those of the users that the stream leaves out. @param userIds few enough for one statement */
export async function findRemoved(
  db: Db,
  { orgId, id }: StreamKey,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("event_stream_removed")
    .select("user_id")
    .where((eb) => allOf(eb, { org_id: orgId, stream_id: id }))
    .where("user_id", "in", userIds)
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
}

/** Keeps the last calls of each connection. */
import { newUuid } from "@signet/protocol/uuid";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { ConnectionCallTable } from "../../db/tables/connections.ts";
import type { ConnectionKey } from "./connection.ts";

export type ConnectionCall = RecordOf<ConnectionCallTable>;

export const MAX_CALLS = 1_000;
/** Of so many, one cuts what is over: a list may be that much longer meanwhile. */
const CUT_EVERY = 50;

export async function recordCall(db: Db, call: Omit<ConnectionCall, "id">): Promise<void> {
  const id = newUuid();
  await db
    .insertInto("connection_call")
    .values(toRow({ ...call, id }))
    .execute();
  if (Math.random() * CUT_EVERY < 1) await cutCalls(db, { orgId: call.orgId, id: call.connectionId });
}

/** Deletes all but the last thousand. */
export async function cutCalls(db: Db, { orgId, id }: ConnectionKey): Promise<void> {
  const key = { org_id: orgId, connection_id: id };
  const [oldest] = await db
    .selectFrom("connection_call")
    .select("id")
    .where((eb) => allOf(eb, key))
    .orderBy("id", "desc")
    .offset(MAX_CALLS - 1)
    .limit(1)
    .execute();
  if (oldest === undefined) return;
  await db
    .deleteFrom("connection_call")
    .where((eb) => allOf(eb, key))
    .where("id", "<", oldest.id)
    .execute();
}

/** Newest first. @param page.after the id of the last one that was shown. @param page.isFailed those that were refused alone */
export async function listCalls(
  db: Db,
  { orgId, id }: ConnectionKey,
  {
    limit,
    after,
    isFailed = false,
  }: { readonly limit: number; readonly after?: string | undefined; readonly isFailed?: boolean },
): Promise<ConnectionCall[]> {
  let query = db
    .selectFrom("connection_call")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }));
  if (after !== undefined) query = query.where("id", "<", after);
  if (isFailed) query = query.where("status", ">=", 400);
  const rows = await query.orderBy("id", "desc").limit(Math.min(limit, MAX_CALLS)).execute();
  return rows.map((row) => toRecord(row));
}

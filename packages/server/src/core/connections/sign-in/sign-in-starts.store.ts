/** Browsers that have been sent to an identity provider: each may come back once, within ten minutes. */
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { ConnectionStartTable } from "../../../db/tables/connections.ts";

export type SignInStart = RecordOf<ConnectionStartTable>;

export const START_LIFETIME_MS = 10 * 60_000;

export async function insertStart(db: Db, start: SignInStart): Promise<void> {
  await db.insertInto("connection_start").values(toRow(start)).execute();
}

type StartKey = Pick<SignInStart, "orgId" | "connectionId" | "stateHash">;

/** Takes it away: a second one with the same `state` finds nothing. @returns undefined for another browser, too */
export async function takeStart(
  db: Db,
  { orgId, connectionId, stateHash }: StartKey,
  { browserHash, now }: { readonly browserHash: string; readonly now: number },
): Promise<SignInStart | undefined> {
  const row = await db
    .deleteFrom("connection_start")
    .where((eb) => allOf(eb, { org_id: orgId, state_hash: stateHash, connection_id: connectionId }))
    .where("browser_hash", "=", browserHash)
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
  return row && toRecord(row);
}

/** That of some browser, which may still come back with it. */
export async function findStart(
  db: Db,
  { orgId, connectionId, stateHash }: StartKey,
  now: number,
): Promise<SignInStart | undefined> {
  const row = await db
    .selectFrom("connection_start")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, state_hash: stateHash, connection_id: connectionId }))
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && toRecord(row);
}

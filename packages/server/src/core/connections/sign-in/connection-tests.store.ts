/** Test sign-ins: the link is opened once, by one browser, which comes back once. Neither is a sign-in's start. */
import { affectsAny, hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { ConnectionTestTable } from "../../../db/tables/connections.ts";

export type ConnectionTest = RecordOf<ConnectionTestTable>;

/** To open the link, and from then on to come back. */
export const TEST_STEP_MS = 10 * 60_000;

export async function insertConnectionTest(db: Db, test: ConnectionTest): Promise<void> {
  await db.insertInto("connection_test").values(toRow(test)).execute();
}

type OfConnection = Pick<ConnectionTest, "orgId" | "connectionId">;

/** @returns undefined for a link that was opened before, or is too old */
export async function openConnectionTest(
  db: Db,
  { orgId, connectionId, linkHash }: OfConnection & Pick<ConnectionTest, "linkHash">,
  opened: { readonly stateHash: string; readonly browserHash: string; readonly now: number },
): Promise<ConnectionTest | undefined> {
  const { stateHash, browserHash, now } = opened;
  const row = await db
    .updateTable("connection_test")
    .set({ state_hash: stateHash, browser_hash: browserHash, opened_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, link_hash: linkHash, connection_id: connectionId }))
    .where("opened_at", "is", null)
    .where("created_at", ">", now - TEST_STEP_MS)
    .returningAll()
    .executeTakeFirst();
  return row && toRecord(row);
}

/** Whether a browser is at the provider for it: which one is asked when it shows its cookie. */
export const isTestUnderWay = (
  db: Db,
  { orgId, connectionId, stateHash }: OfConnection & { readonly stateHash: string },
  now: number,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("connection_test")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, state_hash: stateHash, connection_id: connectionId }))
      .where("opened_at", ">", now - TEST_STEP_MS),
  );

/** A second one with the same `state` finds nothing. @returns undefined for another browser, too */
export async function takeConnectionTest(
  db: Db,
  { orgId, connectionId, stateHash }: OfConnection & { readonly stateHash: string },
  { browserHash, now }: { readonly browserHash: string; readonly now: number },
): Promise<ConnectionTest | undefined> {
  const row = await db
    .updateTable("connection_test")
    .set({ state_hash: null })
    .where((eb) => allOf(eb, { org_id: orgId, state_hash: stateHash, connection_id: connectionId }))
    .where("browser_hash", "=", browserHash)
    .where("opened_at", ">", now - TEST_STEP_MS)
    .returningAll()
    .executeTakeFirst();
  return row && toRecord(row);
}

/** @returns false when it has ended, or is gone */
export const finishConnectionTest = (
  tx: Db,
  { orgId, id }: Pick<ConnectionTest, "orgId" | "id">,
  ended: Pick<ConnectionTest, "outcome" | "reason" | "result" | "expiresAt">,
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("connection_test")
      .set(toRow(ended))
      .where((eb) => allOf(eb, { org_id: orgId, id, outcome: "pending" })),
  );

export async function findConnectionTest(
  db: Db,
  { orgId, connectionId, id }: OfConnection & Pick<ConnectionTest, "id">,
  now: number,
): Promise<ConnectionTest | undefined> {
  const row = await db
    .selectFrom("connection_test")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id, connection_id: connectionId }))
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && toRecord(row);
}

/** Key ceremonies and what was said in them, as rows. */
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import type { ThresholdCeremonyTable, ThresholdMessageTable } from "../../../db/tables/sovereign-signing.ts";

export type CeremonyRow = Readonly<ThresholdCeremonyTable>;
export type MessageRow = Readonly<ThresholdMessageTable>;

/** @returns false while another one of the pool is open */
export const insertCeremony = (tx: Db, row: CeremonyRow): Promise<boolean> =>
  tx
    .insertInto("threshold_ceremony")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst()
    .then((inserted) => inserted !== undefined);

type CeremonyKey = { readonly orgId: string; readonly poolId: string; readonly id: string };

/** The pool's, whatever its state. */
export async function findCeremony(
  db: Db,
  { orgId, poolId, id }: CeremonyKey,
): Promise<CeremonyRow | undefined> {
  return db
    .selectFrom("threshold_ceremony")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId, id }))
    .executeTakeFirst();
}

/** Newest first. */
export async function listCeremonies(
  db: Db,
  { orgId, poolId, limit }: { orgId: string; poolId: string; limit: number },
): Promise<CeremonyRow[]> {
  return db
    .selectFrom("threshold_ceremony")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId }))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

export async function listMessages(db: Db, orgId: string, ceremonyId: string): Promise<MessageRow[]> {
  return db
    .selectFrom("threshold_message")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, ceremony_id: ceremonyId }))
    .orderBy("created_at")
    .orderBy("agent_id")
    .execute();
}

export async function insertMessage(tx: Db, row: MessageRow): Promise<void> {
  await tx.insertInto("threshold_message").values(row).execute();
}

/** @returns false unless it was in the state `from` */
export const advanceCeremony = (
  tx: Db,
  { orgId, poolId, id }: CeremonyKey,
  { from, ...to }: { readonly from: string } & Partial<CeremonyRow>,
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("threshold_ceremony")
      .set(to)
      .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId, id, state: from })),
  );

/** Those that are not over. @returns their ids */
export async function abortOpenCeremonies(
  tx: Db,
  { orgId, poolId, reason, now }: { orgId: string; poolId: string; reason: string; now: number },
): Promise<string[]> {
  const rows = await tx
    .updateTable("threshold_ceremony")
    .set({ state: "aborted", end_reason: reason, ended_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId }))
    .where("ended_at", "is", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

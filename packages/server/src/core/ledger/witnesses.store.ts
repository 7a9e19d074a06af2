/** Stores the witnesses of organisations' logs, and what they have cosigned. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { LedgerWitness } from "./witness.ts";

type WitnessKey = Pick<LedgerWitness, "orgId" | "id">;

export async function insertWitness(tx: Db, witness: LedgerWitness): Promise<void> {
  await tx.insertInto("ledger_witness").values(toRow(witness)).execute();
}

export async function findWitness(db: Db, { orgId, id }: WitnessKey): Promise<LedgerWitness | undefined> {
  const row = await db
    .selectFrom("ledger_witness")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** All of them: their number is bounded. */
export async function listWitnesses(db: Db, orgId: string): Promise<LedgerWitness[]> {
  const rows = await db
    .selectFrom("ledger_witness")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(toRecord);
}

export const deleteWitnessRow = (tx: Db, { orgId, id }: WitnessKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("ledger_witness").where((eb) => allOf(eb, { org_id: orgId, id })));

export async function noteCosigned(
  db: Db,
  { orgId, id }: WitnessKey,
  outcome: Partial<Pick<LedgerWitness, "cosignedSize" | "cosignedAt" | "lastError">>,
): Promise<void> {
  await db
    .updateTable("ledger_witness")
    .set(toRow(outcome))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** The next organisation whose log has witnesses that have not cosigned for a time. @param after an organisation's id, or "" */
export async function nextOrganisationToCosign(
  db: Db,
  { after, before }: { readonly after: string; readonly before: number },
): Promise<string | undefined> {
  const row = await db
    .selectFrom("ledger_log as l")
    .select("l.org_id")
    .where("l.org_id", ">", after)
    .where("l.size", ">", 0)
    .where("l.witnessed_at", "<", before)
    .where((eb) =>
      eb.exists(eb.selectFrom("ledger_witness as w").select("w.id").whereRef("w.org_id", "=", "l.org_id")),
    )
    .orderBy("l.org_id")
    .limit(1)
    .executeTakeFirst();
  return row?.org_id;
}

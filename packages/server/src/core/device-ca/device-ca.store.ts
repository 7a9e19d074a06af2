/** The generations of device CAs as rows. */

import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { DeviceCaTable } from "../../db/tables/device-identity.ts";

export type CaRow = DeviceCaTable;

/** Newest first. */
export function findGenerations(db: Db, orgId: string): Promise<CaRow[]> {
  return db
    .selectFrom("device_ca")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("generation", "desc")
    .execute();
}

/** Also inserts its CRL, not signed yet. @returns false when the generation, or another active one, exists */
export async function insertGeneration(db: Db, row: CaRow): Promise<boolean> {
  const isNew = await hasRow(
    db
      .insertInto("device_ca")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .returning("generation"),
  );
  if (!isNew) return false;
  await db
    .insertInto("device_crl")
    .values({
      org_id: row.org_id,
      generation: row.generation,
      crl_number: 0,
      crl: "",
      this_update: row.created_at,
      next_update: row.created_at,
      renew_at: 0,
      revocations: 0,
    })
    .execute();
  return true;
}

/** @returns false when it is no longer the active one */
export function retireGeneration(
  db: Db,
  { orgId, generation }: { orgId: string; generation: number },
  at: number,
): Promise<boolean> {
  return affectsAny(
    db
      .updateTable("device_ca")
      .set({ retired_at: at })
      .where((eb) => allOf(eb, { org_id: orgId, generation }))
      .where("retired_at", "is", null),
  );
}

/** Active generations that expire before the time, the most urgent first. */
export async function findExpiringGenerations(
  db: Db,
  before: number,
  limit: number,
): Promise<Array<{ orgId: string; generation: number }>> {
  return db
    .selectFrom("device_ca")
    .select(["org_id as orgId", "generation"])
    .where("retired_at", "is", null)
    .where("not_after", "<", before)
    .orderBy("not_after")
    .limit(limit)
    .execute();
}

/** Deletes generations without unexpired certificates, with their keys and CRLs. */
export async function deleteDrainedGenerations(
  db: Db,
  times: { retiredBefore: number; now: number },
  limit: number,
): Promise<number> {
  const drained = await db
    .selectFrom("device_ca as ca")
    .select(["ca.org_id", "ca.generation"])
    .where("ca.retired_at", "<", times.retiredBefore)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("device_certificate as issued")
            .select("issued.fingerprint")
            .whereRef("issued.org_id", "=", "ca.org_id")
            .whereRef("issued.generation", "=", "ca.generation")
            .where("issued.not_after", ">", times.now),
        ),
      ),
    )
    .limit(limit)
    .execute();
  for (const { org_id, generation } of drained) {
    const tables = ["device_ca", "device_crl"] as const;
    for (const table of tables)
      await db.deleteFrom(table).where("org_id", "=", org_id).where("generation", "=", generation).execute();
  }
  return drained.length;
}

export type SealedCaKey = Pick<CaRow, "org_id" | "generation" | "private_key">;

/** The encrypted private keys of all organisations, page by page. */
export function listSealedCaKeys(
  db: Db,
  page: { after?: SealedCaKey; limit: number },
): Promise<SealedCaKey[]> {
  const { org_id, generation } = page.after ?? { org_id: "", generation: 0 };
  return db
    .selectFrom("device_ca")
    .select(["org_id", "generation", "private_key"])
    .where((eb) => eb(eb.refTuple("org_id", "generation"), ">", eb.tuple(org_id, generation)))
    .orderBy("org_id")
    .orderBy("generation")
    .limit(page.limit)
    .execute();
}

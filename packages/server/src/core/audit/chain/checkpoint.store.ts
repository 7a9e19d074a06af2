/** Stores where retention cut a chain, and deletes the events before it. */
import type { Db } from "../../../db/open.ts";
import { toRecord, toRow } from "../../../db/records.ts";
import type { Checkpoint } from "./link.ts";

export type SignedCheckpoint = Checkpoint & { readonly mac: string };

/** Undefined: nothing was cut. */
export async function findCheckpoint(db: Db, orgId: string): Promise<SignedCheckpoint | undefined> {
  const row = await db
    .selectFrom("audit_checkpoint")
    .selectAll()
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row && toRecord(row);
}

export async function putCheckpoint(tx: Db, { orgId, ...checkpoint }: SignedCheckpoint): Promise<void> {
  const columns = toRow(checkpoint);
  await tx
    .insertInto("audit_checkpoint")
    .values({ org_id: orgId, ...columns })
    .onConflict((conflict) => conflict.column("org_id").doUpdateSet(columns))
    .execute();
}

/** Chained events, with what is indexed of them. @returns how many events were deleted */
export async function deleteChained(tx: Db, orgId: string, ids: readonly string[]): Promise<number> {
  for (const table of ["audit_mention", "audit_typed_email"] as const)
    await tx.deleteFrom(table).where("org_id", "=", orgId).where("event_id", "in", ids).execute();
  const { numDeletedRows } = await tx
    .deleteFrom("audit_event")
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .where("seq", "is not", null)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

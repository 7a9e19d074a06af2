/** Trusted TPM roots and allowed endorsement keys as rows. */
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { DeviceAllowedEkTable, DeviceRootTable } from "../../../db/tables/device-identity.ts";

/** A trust anchor for EK certificates. */
export type DeviceRoot = RecordOf<DeviceRootTable>;
export type AllowedEk = RecordOf<DeviceAllowedEkTable>;

/** @returns false when it exists already */
export async function insertRoot(db: Db, root: DeviceRoot): Promise<boolean> {
  const row = await db
    .insertInto("device_root")
    .values(toRow(root))
    .onConflict((conflict) => conflict.doNothing())
    .returning("fingerprint")
    .executeTakeFirst();
  return row !== undefined;
}

export async function countRoots(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom("device_root")
    .select((eb) => eb.fn.countAll<string | number>().as("count"))
    .where("org_id", "=", orgId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** @param page.after the last fingerprint of the previous page */
export async function listRoots(
  db: Db,
  orgId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<DeviceRoot[]> {
  const rows = await db
    .selectFrom("device_root")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(after !== undefined, (query) => query.where("fingerprint", ">", after ?? ""))
    .orderBy("fingerprint")
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

/** PEM of the roots with these subjects, so that only a few of many are read. */
export async function findRootsBySubject(
  db: Db,
  orgId: string,
  subjectHashes: readonly string[],
): Promise<string[]> {
  if (subjectHashes.length === 0) return [];
  const rows = await db
    .selectFrom("device_root")
    .select("certificate")
    .where("org_id", "=", orgId)
    .where("subject_hash", "in", subjectHashes)
    .execute();
  return rows.map(({ certificate }) => certificate);
}

export async function deleteRoot(db: Db, orgId: string, fingerprint: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("device_root")
    .where("org_id", "=", orgId)
    .where("fingerprint", "=", fingerprint)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** @returns false when it exists already */
export async function insertAllowedEk(db: Db, ek: AllowedEk): Promise<boolean> {
  const row = await db
    .insertInto("device_allowed_ek")
    .values(toRow(ek))
    .onConflict((conflict) => conflict.doNothing())
    .returning("ek_hash")
    .executeTakeFirst();
  return row !== undefined;
}

/** @param page.after the last hash of the previous page */
export async function listAllowedEks(
  db: Db,
  orgId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<AllowedEk[]> {
  const rows = await db
    .selectFrom("device_allowed_ek")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(after !== undefined, (query) => query.where("ek_hash", ">", after ?? ""))
    .orderBy("ek_hash")
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

export async function isAllowedEk(db: Db, orgId: string, ekHash: string): Promise<boolean> {
  const row = await db
    .selectFrom("device_allowed_ek")
    .select("ek_hash")
    .where("org_id", "=", orgId)
    .where("ek_hash", "=", ekHash)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteAllowedEk(db: Db, orgId: string, ekHash: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("device_allowed_ek")
    .where("org_id", "=", orgId)
    .where("ek_hash", "=", ekHash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

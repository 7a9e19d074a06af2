import type { Selectable } from "kysely";
import type { AttestationPolicy, EnrollmentCode } from "../../../core/devices/device.ts";
import type { Db } from "../../../db/open.ts";
import type { DeviceEnrollmentCodeTable } from "../../../db/tables/device-identity.ts";

export async function insertCode(db: Db, code: EnrollmentCode, codeHash: string): Promise<void> {
  await db
    .insertInto("device_enrollment_code")
    .values({
      org_id: code.orgId,
      id: code.id,
      code_hash: codeHash,
      name: code.name,
      attestation: code.attestation,
      replaces: code.replaces,
      created_at: code.createdAt,
      created_by: code.createdBy,
      expires_at: code.expiresAt,
      used_at: code.usedAt,
      device_id: code.deviceId,
      withdrawn_at: code.withdrawnAt,
    })
    .execute();
}

/** Used, withdrawn and expired ones are found too. */
export async function findCodeByHash(
  db: Db,
  orgId: string,
  codeHash: string,
): Promise<EnrollmentCode | undefined> {
  const row = await db
    .selectFrom("device_enrollment_code")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("code_hash", "=", codeHash)
    .executeTakeFirst();
  return row && toCode(row);
}

export async function findCode(db: Db, orgId: string, id: string): Promise<EnrollmentCode | undefined> {
  const row = await db
    .selectFrom("device_enrollment_code")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toCode(row);
}

/** Single use: of several at once, one gets it. @returns undefined when it is not to be used (any more) */
export async function useCode(
  db: Db,
  use: { orgId: string; codeHash: string; deviceId: string; now: number },
): Promise<EnrollmentCode | undefined> {
  const row = await db
    .updateTable("device_enrollment_code")
    .set({ used_at: use.now, device_id: use.deviceId })
    .where("org_id", "=", use.orgId)
    .where("code_hash", "=", use.codeHash)
    .where("used_at", "is", null)
    .where("withdrawn_at", "is", null)
    .where("expires_at", ">", use.now)
    .returningAll()
    .executeTakeFirst();
  return row && toCode(row);
}

/** @returns false when there is none that could still be used */
export async function withdrawCodeRow(
  db: Db,
  { orgId, id, now }: { orgId: string; id: string; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("device_enrollment_code")
    .set({ withdrawn_at: now })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("used_at", "is", null)
    .where("withdrawn_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Those that can still be used, newest first. @param page.after the id that the page before ended with */
export async function listUsableCodes(
  db: Db,
  orgId: string,
  page: { readonly now: number; readonly after?: string | undefined; readonly limit: number },
): Promise<EnrollmentCode[]> {
  const { now, after, limit } = page;
  const rows = await db
    .selectFrom("device_enrollment_code")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("used_at", "is", null)
    .where("withdrawn_at", "is", null)
    .where("expires_at", ">", now)
    .$if(after !== undefined, (query) => query.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toCode);
}

/** @param before when it expired. @returns how many were removed, at most `limit` */
export async function deletePassedCodes(db: Db, before: number, limit: number): Promise<number> {
  const passed = await db
    .selectFrom("device_enrollment_code")
    .select(["org_id", "id"])
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  for (const { org_id, id } of passed)
    await db.deleteFrom("device_enrollment_code").where("org_id", "=", org_id).where("id", "=", id).execute();
  return passed.length;
}

const toCode = (row: Selectable<DeviceEnrollmentCodeTable>): EnrollmentCode => ({
  orgId: row.org_id,
  id: row.id,
  name: row.name,
  attestation: row.attestation as AttestationPolicy,
  replaces: row.replaces,
  createdAt: row.created_at,
  createdBy: row.created_by,
  expiresAt: row.expires_at,
  usedAt: row.used_at,
  deviceId: row.device_id,
  withdrawnAt: row.withdrawn_at,
});

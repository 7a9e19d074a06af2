/** Enrolment codes as rows. */
import type { AttestationPolicy, EnrolmentCode } from "../../../core/devices/device.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord, toRow } from "../../../db/records.ts";
import type { DeviceEnrollmentCodeTable } from "../../../db/tables/device-identity.ts";

export async function insertCode(db: Db, code: EnrolmentCode, codeHash: string): Promise<void> {
  await db
    .insertInto("device_enrollment_code")
    .values({ ...toRow(code), code_hash: codeHash })
    .execute();
}

export const findCodeByHash = (db: Db, orgId: string, codeHash: string): Promise<EnrolmentCode | undefined> =>
  findBy(db, orgId, "code_hash", codeHash);

export const findCode = (db: Db, orgId: string, id: string): Promise<EnrolmentCode | undefined> =>
  findBy(db, orgId, "id", id);

/** Also finds used, withdrawn and expired codes. */
async function findBy(
  db: Db,
  orgId: string,
  column: "code_hash" | "id",
  value: string,
): Promise<EnrolmentCode | undefined> {
  const row = await db
    .selectFrom("device_enrollment_code")
    .selectAll()
    .where("org_id", "=", orgId)
    .where(column, "=", value)
    .executeTakeFirst();
  return row && toCode(row);
}

/** Redeems the code once. @returns undefined when it is used, withdrawn or expired */
export async function useCode(
  db: Db,
  use: { orgId: string; codeHash: string; deviceId: string; now: number },
): Promise<EnrolmentCode | undefined> {
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

/** @returns false when there is no usable code with this id */
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

/** Newest first. @param page.after the last id of the previous page */
export async function listUsableCodes(
  db: Db,
  orgId: string,
  page: { readonly now: number; readonly after?: string | undefined; readonly limit: number },
): Promise<EnrolmentCode[]> {
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

const toCode = ({ attestation, code_hash, ...row }: DeviceEnrollmentCodeTable): EnrolmentCode => ({
  ...toRecord(row),
  attestation: attestation as AttestationPolicy,
});

/** Enrolment codes as rows. */
import { sql } from "kysely";
import type { AttestationPolicy, EnrolmentCode } from "../../../core/devices/device.ts";
import { columnsOf } from "../../../db/columns.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import { toRecord, toRow } from "../../../db/records.ts";
import { isNamed } from "../../../db/search-text.ts";
import type { DeviceEnrollmentCodeTable } from "../../../db/tables/device-identity.ts";

export async function insertCode(db: Db, code: EnrolmentCode, codeHash: string): Promise<void> {
  await db
    .insertInto("device_enrollment_code")
    .values({ ...toRow(code), code_hash: codeHash })
    .execute();
}

const columns = columnsOf<DeviceEnrollmentCodeTable>()(
  ...(["org_id", "id", "code_hash", "name", "attestation", "replaces", "created_at", "created_by"] as const),
  ...(["expires_at", "used_at", "device_id", "withdrawn_at"] as const),
);

const selectByHash = prepared((db, value: Parameter<{ orgId: string; codeHash: string }>) =>
  db
    .selectFrom("device_enrollment_code")
    .select(columns)
    .where("org_id", "=", value("orgId"))
    .where("code_hash", "=", value("codeHash")),
);

/** Also finds used, withdrawn and expired codes. */
export async function findCodeByHash(
  db: Db,
  orgId: string,
  codeHash: string,
): Promise<EnrolmentCode | undefined> {
  const [row] = await selectByHash(db, { orgId, codeHash });
  return row && toCode(row);
}

/** The same by the id. */
export async function findCode(db: Db, orgId: string, id: string): Promise<EnrolmentCode | undefined> {
  const row = await db
    .selectFrom("device_enrollment_code")
    .select(columns)
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toCode(row);
}

type Use = { orgId: string; codeHash: string; deviceId: string; now: number };

const updateUsable = prepared((db, value: Parameter<Use>) =>
  db
    .updateTable("device_enrollment_code")
    .set({ used_at: value("now"), device_id: value("deviceId") })
    .where("org_id", "=", value("orgId"))
    .where("code_hash", "=", value("codeHash"))
    .where("used_at", "is", null)
    .where("withdrawn_at", "is", null)
    .where("expires_at", ">", value("now"))
    .returning(columns),
);

/** Redeems the code once. @returns undefined when it is used, withdrawn or expired */
export async function useCode(db: Db, use: Use): Promise<EnrolmentCode | undefined> {
  const [row] = await updateUsable(db, use);
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

interface CodeFilter {
  readonly now: number;
  /** Part of a device's name or a code's id. */
  readonly text?: string | undefined;
}

/** Newest first. @param page.after the last id of the previous page */
export const listUsableCodes = (
  db: Db,
  orgId: string,
  { after, ...search }: CodeFilter & { readonly after?: string | undefined; readonly limit: number },
): Promise<EnrolmentCode[]> => {
  const cursor = after === undefined ? undefined : { value: after, id: after };
  return searchUsableCodes(db, orgId, { ...search, page: { isDescending: true, after: cursor } });
};

/** By the time of creation: ids rise with it. */
export async function searchUsableCodes(
  db: Db,
  orgId: string,
  { page, limit, ...filter }: CodeFilter & { readonly page: KeysetPage; readonly limit: number },
): Promise<EnrolmentCode[]> {
  const id = sql.ref("device_enrollment_code.id");
  const { within, direction } = readPage(page, { value: id, id });
  const rows = await usable(db, orgId, filter)
    .selectAll()
    .where(within)
    .orderBy("id", direction)
    .limit(limit)
    .execute();
  return inListOrder(page, rows.map(toCode));
}

/** @param max counts no further */
export const countUsableCodes = (
  db: Db,
  orgId: string,
  { max, ...filter }: CodeFilter & { readonly max: number },
): Promise<number> => countRows(db, usable(db, orgId, filter).select("id").limit(max));

const usable = (db: Db, orgId: string, { now, text }: CodeFilter) =>
  db
    .selectFrom("device_enrollment_code")
    .where("org_id", "=", orgId)
    .where("used_at", "is", null)
    .where("withdrawn_at", "is", null)
    .where("expires_at", ">", now)
    .$if(text !== undefined, (query) => query.where(isNamed("device_enrollment_code", text ?? "")));

const toCode = ({ attestation, code_hash, ...row }: DeviceEnrollmentCodeTable): EnrolmentCode => ({
  ...toRecord(row),
  attestation: attestation as AttestationPolicy,
});

/** The lists of devices and of enrolment codes: the database filters, sorts and pages. */
import { type RawBuilder, sql } from "kysely";
import type { AttestationPolicy, EnrolmentCode } from "../../../core/devices/device.ts";
import { toDevice } from "../../../core/devices/devices.store.ts";
import { affectsAny } from "../../../db/affected.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord } from "../../../db/records.ts";
import type { DeviceEnrollmentCodeTable } from "../../../db/tables/device-identity.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlField, type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";
import type { ListedDevice } from "./device-record.ts";

type Sorted<R> = ListPage<R & { readonly sortValue: string | number }>;

const text = (of: RawBuilder<unknown>): SqlField => ({ kind: "text", of });
const time = (of: RawBuilder<unknown>, isNeverNull = false): SqlField => ({ kind: "time", of, isNeverNull });

/** @param now milliseconds: a state follows from it */
export const deviceFields = (now: number): SqlFields => ({
  ...{ id: text(sql.ref("device.id")), name: text(sql.ref("device.name")) },
  attestation: text(sql.ref("device.attestation")),
  state: text(
    sql`case when device.revoked_at is not null then 'revoked' when coalesce(held.not_after, 0) > ${now} then 'active' else 'expired' end`,
  ),
  lastSeenAt: time(sql.ref("device.last_seen_at")),
  revokedAt: time(sql.ref("device.revoked_at")),
  revokedReason: text(sql.ref("device.revoked_reason")),
  createdAt: time(sql.ref("device.enrolled_at"), true),
  updatedAt: time(sql`coalesce(device.revoked_at, held.issued_at, device.enrolled_at)`, true),
});

/** With their latest certificates. */
const devicesOf = (db: Db, orgId: string) =>
  db
    .selectFrom("device")
    .leftJoin("device_certificate as held", (join) =>
      join
        .onRef("held.org_id", "=", "device.org_id")
        .onRef("held.device_id", "=", "device.id")
        .on("held.superseded_at", "is", null),
    )
    .where("device.org_id", "=", orgId);

const certificateOfRow = {
  fingerprint: sql<string | null>`held.fingerprint`.as("held_fingerprint"),
  serial: sql<string | null>`held.serial`.as("held_serial"),
  issuedAt: sql<number | null>`held.issued_at`.as("held_issued_at"),
  notAfter: sql<number | null>`held.not_after`.as("held_not_after"),
};

type DeviceRow = Parameters<typeof toDevice>[0] & {
  readonly held_fingerprint: string | null;
  readonly held_serial: string | null;
  readonly held_issued_at: number | null;
  readonly held_not_after: number | null;
};

function listed(row: DeviceRow, now: number): ListedDevice {
  const { held_fingerprint, held_serial, held_issued_at, held_not_after, ...device } = row;
  const hasExpired = held_not_after === null || held_not_after <= now;
  return {
    ...toDevice(device),
    state: row.revoked_at === null ? (hasExpired ? "expired" : "active") : "revoked",
    certificate:
      held_fingerprint === null || held_serial === null || held_issued_at === null || held_not_after === null
        ? null
        : {
            ...{ fingerprint: held_fingerprint, serial: held_serial },
            ...{ issuedAt: held_issued_at, notAfter: held_not_after },
          },
  };
}

export async function findListedDevice(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
  now: number,
): Promise<ListedDevice | undefined> {
  const row = await devicesOf(db, orgId)
    .selectAll("device")
    .select(Object.values(certificateOfRow))
    .where("device.id", "=", id)
    .executeTakeFirst();
  return row && listed(row, now);
}

const sqlOfDevices = (db: Db, list: ListRequest, now: number) =>
  sqlList(db, list, deviceFields(now), sql.ref("device.id"));

/** By when they were enrolled, it reads on in the order of an index. */
export function selectDevicePage(db: Db, orgId: string, list: ListRequest, now: number) {
  const sqlOf = sqlOfDevices(db, list, now);
  return devicesOf(db, orgId)
    .selectAll("device")
    .select(Object.values(certificateOfRow))
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.matching)
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit);
}

export async function listDevicePage(
  db: Db,
  orgId: string,
  list: ListRequest,
  now: number,
): Promise<Sorted<ListedDevice>> {
  const rows = await selectDevicePage(db, orgId, list, now).execute();
  const matching = () => devicesOf(db, orgId).where(sqlOfDevices(db, list, now).matching);
  const shown = rows.map(({ sortValue, ...row }) => ({ ...listed(row, now), sortValue }));
  return sqlPage(list, shown, () => countRows(db, matching().select("device.id")));
}

export const codeFields = (now: number): SqlFields => ({
  ...{ id: text(sql.ref("id")), name: text(sql.ref("name")), attestation: text(sql.ref("attestation")) },
  ...{ replaces: text(sql.ref("replaces")), deviceId: text(sql.ref("device_id")) },
  state: text(
    sql`case when used_at is not null then 'used' when withdrawn_at is not null then 'withdrawn' when expires_at > ${now} then 'open' else 'expired' end`,
  ),
  expiresAt: time(sql.ref("expires_at"), true),
  ...{ usedAt: time(sql.ref("used_at")), withdrawnAt: time(sql.ref("withdrawn_at")) },
  createdBy: text(sql.ref("created_by")),
  createdAt: time(sql.ref("created_at"), true),
  updatedAt: time(sql`coalesce(used_at, withdrawn_at, created_at)`, true),
});

const codesOf = (db: Db, orgId: string) =>
  db.selectFrom("device_enrollment_code").where("org_id", "=", orgId);

const codeColumns = [
  ...(["org_id", "id", "name", "attestation", "replaces", "created_at", "created_by"] as const),
  ...(["expires_at", "used_at", "device_id", "withdrawn_at"] as const),
] as const;

const toCode = ({ attestation, ...row }: Omit<DeviceEnrollmentCodeTable, "code_hash">): EnrolmentCode => ({
  ...toRecord(row),
  attestation: attestation as AttestationPolicy,
});

/** Holds the code, used or not, until the transaction ends. @returns false when it is unknown */
export const lockEnrollmentCode = (
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device_enrollment_code")
      .set((eb) => ({ withdrawn_at: eb.ref("withdrawn_at") }))
      .where("org_id", "=", orgId)
      .where("id", "=", id),
  );

/** Also a used, withdrawn or expired one. */
export async function findEnrollmentCode(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<EnrolmentCode | undefined> {
  const row = await codesOf(db, orgId).select(codeColumns).where("id", "=", id).executeTakeFirst();
  return row && toCode(row);
}

const sqlOfCodes = (db: Db, list: ListRequest, now: number) =>
  sqlList(db, list, codeFields(now), sql.ref("id"));

/** By when they were made, it reads on in the order of an index. */
export function selectCodePage(db: Db, orgId: string, list: ListRequest, now: number) {
  const sqlOf = sqlOfCodes(db, list, now);
  return codesOf(db, orgId)
    .select(codeColumns)
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.matching)
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit);
}

export async function listCodePage(
  db: Db,
  orgId: string,
  list: ListRequest,
  now: number,
): Promise<Sorted<EnrolmentCode>> {
  const rows = await selectCodePage(db, orgId, list, now).execute();
  const matching = () => codesOf(db, orgId).where(sqlOfCodes(db, list, now).matching);
  const shown = rows.map(({ sortValue, ...row }) => ({ ...toCode(row), sortValue }));
  return sqlPage(list, shown, () => countRows(db, matching().select("id")));
}

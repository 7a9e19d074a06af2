/** Devices, their keys and certificates as rows. */

import { affectsAny } from "../../db/affected.ts";
import { columnsOf } from "../../db/columns.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Columns, eachColumn, type Parameter, prepared } from "../../db/prepared.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { DeviceCertificateTable, DeviceKeyTable, DeviceTable } from "../../db/tables/device-identity.ts";
import type { Attestation, Device, DeviceCertificate, RevocationReason } from "./device.ts";

export interface CertifiedDevice {
  readonly device: Device;
  readonly certificate: DeviceCertificate;
}

const certificateColumns = columnsOf<DeviceCertificateTable>()(
  ...(["org_id", "fingerprint", "device_id", "generation", "serial", "key_hash", "certificate"] as const),
  ...(["not_before", "not_after", "issued_at", "superseded_at", "revoked_at"] as const),
);

const deviceColumns = columnsOf<DeviceTable>()(
  ...(["org_id", "id", "name", "attestation", "ek_hash", "ak_public"] as const),
  ...(["enrolled_at", "revoked_at", "revoked_reason", "last_seen_at"] as const),
);

const selectCertificate = prepared((db, value: Parameter<{ orgId: string; fingerprint: string }>) =>
  db
    .selectFrom("device_certificate")
    .select(certificateColumns)
    .where("org_id", "=", value("orgId"))
    .where("fingerprint", "=", value("fingerprint")),
);

const selectDevice = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db
    .selectFrom("device")
    .select(deviceColumns)
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("id")),
);

/** Also finds revoked and superseded certificates. @param fingerprint SHA-256 of the DER, base64url */
export async function findByCertificate(
  db: Db,
  orgId: string,
  fingerprint: string,
): Promise<CertifiedDevice | undefined> {
  const [row] = await selectCertificate(db, { orgId, fingerprint });
  const device = row && (await findDevice(db, orgId, row.device_id));
  return row && device ? { device, certificate: toCertificate(row) } : undefined;
}

export async function findDevice(db: Db, orgId: string, id: string): Promise<Device | undefined> {
  const [row] = await selectDevice(db, { orgId, id });
  return row && toDevice(row);
}

const insertDeviceRow = prepared((db, value: Parameter<Columns<DeviceTable>>) =>
  db
    .insertInto("device")
    .values(eachColumn(deviceColumns, value))
    .onConflict((conflict) => conflict.doNothing())
    .returning("id"),
);

/** @returns false if another active device of the organisation has the EK */
export const insertDevice = async (db: Db, device: Device): Promise<boolean> =>
  (await insertDeviceRow(db, toRow(device))).length > 0;

/** `keyHash` is SHA-256 of the SPKI, base64url; `tpmPublic` base64 TPMT_PUBLIC of an attested key, null for a key in a file. */
export type DeviceKey = RecordOf<DeviceKeyTable>;

const keyColumns = columnsOf<DeviceKeyTable>()(
  ...(["org_id", "key_hash", "device_id", "tpm_public", "created_at"] as const),
);

const insertKeyRow = prepared((db, value: Parameter<Columns<DeviceKeyTable>>) =>
  db
    .insertInto("device_key")
    .values(eachColumn(keyColumns, value))
    .onConflict((conflict) => conflict.doNothing())
    .returning("key_hash"),
);

/** @returns false if any device of the organisation has or had the key */
export const insertDeviceKey = async (db: Db, key: DeviceKey): Promise<boolean> =>
  (await insertKeyRow(db, toRow(key))).length > 0;

export async function findDeviceKey(db: Db, orgId: string, keyHash: string): Promise<DeviceKey | undefined> {
  const row = await db
    .selectFrom("device_key")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, key_hash: keyHash }))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** @returns the id of the active device with this EK */
export async function findDeviceByEk(db: Db, orgId: string, ekHash: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("device")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, ek_hash: ekHash }))
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return row?.id;
}

/** Holds the device, revoked or not, until the transaction ends. @returns false when it is unknown */
export const lockDevice = (db: Db, orgId: string, id: string): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device")
      .set((eb) => ({ revoked_at: eb.ref("revoked_at") }))
      .where((eb) => allOf(eb, { org_id: orgId, id })),
  );

/** Blocks a revocation until the transaction ends. @returns false when the device is revoked or unknown */
export const lockActiveDevice = (db: Db, orgId: string, id: string): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device")
      .set((eb) => ({ revoked_at: eb.ref("revoked_at") }))
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("revoked_at", "is", null),
  );

/** @returns false when the device is unknown, or was revoked before */
export const markDeviceRevoked = (
  db: Db,
  { orgId, id, reason, now }: { orgId: string; id: string; reason: RevocationReason; now: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device")
      .set({ revoked_at: now, revoked_reason: reason })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("revoked_at", "is", null),
  );

/** Also superseded ones. */
export async function markCertificatesRevoked(
  db: Db,
  { orgId, deviceId, now }: { orgId: string; deviceId: string; now: number },
): Promise<void> {
  await db
    .updateTable("device_certificate")
    .set({ revoked_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, device_id: deviceId }))
    .where("revoked_at", "is", null)
    .execute();
}

/** @returns false when the certificate was renewed before, or is revoked */
export const supersedeCertificate = (
  db: Db,
  { orgId, fingerprint, now }: { orgId: string; fingerprint: string; now: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device_certificate")
      .set({ superseded_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, fingerprint }))
      .where("superseded_at", "is", null)
      .where("revoked_at", "is", null),
  );

const certificatesOf = (db: Db, orgId: string, deviceId: string) =>
  db
    .selectFrom("device_certificate")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, device_id: deviceId }));

export async function findCurrentCertificate(
  db: Db,
  orgId: string,
  deviceId: string,
): Promise<DeviceCertificate | undefined> {
  const current = certificatesOf(db, orgId, deviceId).where("superseded_at", "is", null);
  const row = await current.executeTakeFirst();
  return row && toCertificate(row);
}

/** Newest first. */
export async function listCertificates(
  db: Db,
  orgId: string,
  deviceId: string,
  limit?: number,
): Promise<DeviceCertificate[]> {
  const newestFirst = certificatesOf(db, orgId, deviceId).orderBy("issued_at", "desc").orderBy("fingerprint");
  const rows = newestFirst.$if(limit !== undefined, (query) => query.limit(limit ?? 0));
  return (await rows.execute()).map(toCertificate);
}

/** Superseded certificates that expired before the time. @returns how many were deleted, at most `limit` */
export async function deleteSupersededCertificates(db: Db, before: number, limit: number): Promise<number> {
  const passed = await db
    .selectFrom("device_certificate")
    .select(["org_id", "fingerprint"])
    .where("superseded_at", "is not", null)
    .where("not_after", "<", before)
    .orderBy("not_after")
    .limit(limit)
    .execute();
  for (const { org_id, fingerprint } of passed)
    await db
      .deleteFrom("device_certificate")
      .where((eb) => allOf(eb, { org_id, fingerprint }))
      .execute();
  return passed.length;
}

const insertCertificateRow = prepared((db, value: Parameter<Columns<DeviceCertificateTable>>) =>
  db.insertInto("device_certificate").values(eachColumn(certificateColumns, value)),
);

export async function insertCertificate(db: Db, { der, ...certificate }: DeviceCertificate): Promise<void> {
  await insertCertificateRow(db, { ...toRow(certificate), certificate: der.toString("base64") });
}

/** Writes only if the stored time is older than `before`, so that simultaneous requests write once. */
export async function recordDeviceSeen(
  db: Db,
  seen: { orgId: string; id: string; now: number; before: number },
): Promise<void> {
  await db
    .updateTable("device")
    .set({ last_seen_at: seen.now })
    .where((eb) => allOf(eb, { org_id: seen.orgId, id: seen.id }))
    .where((eb) => eb.or([eb("last_seen_at", "is", null), eb("last_seen_at", "<=", seen.before)]))
    .execute();
}

export const toDevice = (row: DeviceTable): Device => ({
  ...toRecord(row),
  attestation: row.attestation as Attestation,
  revokedReason: row.revoked_reason as RevocationReason | null,
});

const toCertificate = ({ certificate, ...row }: DeviceCertificateTable): DeviceCertificate => ({
  ...toRecord(row),
  der: Buffer.from(certificate, "base64"),
});

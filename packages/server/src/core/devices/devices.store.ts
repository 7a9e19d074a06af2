/** Devices, their keys and certificates as rows. */
import type { Selectable } from "kysely";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { DeviceCertificateTable, DeviceTable } from "../../db/tables/device-identity.ts";
import type { Attestation, Device, DeviceCertificate, RevocationReason } from "./device.ts";

export interface CertifiedDevice {
  readonly device: Device;
  readonly certificate: DeviceCertificate;
}

const selectCertificate = prepared((db, value: Parameter<{ orgId: string; fingerprint: string }>) =>
  db
    .selectFrom("device_certificate")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("fingerprint", "=", value("fingerprint")),
);

const selectDevice = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db.selectFrom("device").selectAll().where("org_id", "=", value("orgId")).where("id", "=", value("id")),
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

/** @returns false if another active device of the organisation has the EK */
export async function insertDevice(db: Db, device: Device): Promise<boolean> {
  const row = await db
    .insertInto("device")
    .values({
      org_id: device.orgId,
      id: device.id,
      name: device.name,
      attestation: device.attestation,
      ek_hash: device.ekHash,
      ak_public: device.akPublic,
      enrolled_at: device.enrolledAt,
      revoked_at: device.revokedAt,
      revoked_reason: device.revokedReason,
      last_seen_at: device.lastSeenAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

export interface DeviceKey {
  readonly orgId: string;
  /** SHA-256 of the SPKI, base64url. */
  readonly keyHash: string;
  readonly deviceId: string;
  /** Base64 TPMT_PUBLIC of an attested key; null for a key in a file. */
  readonly tpmPublic: string | null;
  readonly createdAt: number;
}

/** @returns false if any device of the organisation has or had the key */
export async function insertDeviceKey(db: Db, key: DeviceKey): Promise<boolean> {
  const row = await db
    .insertInto("device_key")
    .values({
      org_id: key.orgId,
      key_hash: key.keyHash,
      device_id: key.deviceId,
      tpm_public: key.tpmPublic,
      created_at: key.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key_hash")
    .executeTakeFirst();
  return row !== undefined;
}

export async function findDeviceKey(db: Db, orgId: string, keyHash: string): Promise<DeviceKey | undefined> {
  const row = await db
    .selectFrom("device_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("key_hash", "=", keyHash)
    .executeTakeFirst();
  return (
    row && {
      orgId,
      keyHash,
      deviceId: row.device_id,
      tpmPublic: row.tpm_public,
      createdAt: row.created_at,
    }
  );
}

/** @returns the id of the active device with this EK */
export async function findDeviceByEk(db: Db, orgId: string, ekHash: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("device")
    .select("id")
    .where("org_id", "=", orgId)
    .where("ek_hash", "=", ekHash)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return row?.id;
}

/** Blocks a revocation until the transaction ends. @returns false when the device is revoked or unknown */
export async function lockActiveDevice(db: Db, orgId: string, id: string): Promise<boolean> {
  const row = await db
    .updateTable("device")
    .set((eb) => ({ revoked_at: eb.ref("revoked_at") }))
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns false when the device is unknown, or was revoked before */
export async function markDeviceRevoked(
  db: Db,
  { orgId, id, reason, now }: { orgId: string; id: string; reason: RevocationReason; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("device")
    .set({ revoked_at: now, revoked_reason: reason })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Also superseded ones. */
export async function markCertificatesRevoked(
  db: Db,
  { orgId, deviceId, now }: { orgId: string; deviceId: string; now: number },
): Promise<void> {
  await db
    .updateTable("device_certificate")
    .set({ revoked_at: now })
    .where("org_id", "=", orgId)
    .where("device_id", "=", deviceId)
    .where("revoked_at", "is", null)
    .execute();
}

/** @returns false when the certificate was renewed before, or is revoked */
export async function supersedeCertificate(
  db: Db,
  { orgId, fingerprint, now }: { orgId: string; fingerprint: string; now: number },
): Promise<boolean> {
  const row = await db
    .updateTable("device_certificate")
    .set({ superseded_at: now })
    .where("org_id", "=", orgId)
    .where("fingerprint", "=", fingerprint)
    .where("superseded_at", "is", null)
    .where("revoked_at", "is", null)
    .returning("fingerprint")
    .executeTakeFirst();
  return row !== undefined;
}

export async function findCurrentCertificate(
  db: Db,
  orgId: string,
  deviceId: string,
): Promise<DeviceCertificate | undefined> {
  const row = await db
    .selectFrom("device_certificate")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("device_id", "=", deviceId)
    .where("superseded_at", "is", null)
    .executeTakeFirst();
  return row && toCertificate(row);
}

/** Newest first. */
export async function listCertificates(
  db: Db,
  orgId: string,
  deviceId: string,
): Promise<DeviceCertificate[]> {
  const rows = await db
    .selectFrom("device_certificate")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("device_id", "=", deviceId)
    .orderBy("issued_at", "desc")
    .orderBy("fingerprint")
    .execute();
  return rows.map(toCertificate);
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
      .where("org_id", "=", org_id)
      .where("fingerprint", "=", fingerprint)
      .execute();
  return passed.length;
}

export async function insertCertificate(db: Db, certificate: DeviceCertificate): Promise<void> {
  await db
    .insertInto("device_certificate")
    .values({
      org_id: certificate.orgId,
      fingerprint: certificate.fingerprint,
      device_id: certificate.deviceId,
      generation: certificate.generation,
      serial: certificate.serial,
      key_hash: certificate.keyHash,
      certificate: certificate.der.toString("base64"),
      not_before: certificate.notBefore,
      not_after: certificate.notAfter,
      issued_at: certificate.issuedAt,
      superseded_at: certificate.supersededAt,
      revoked_at: certificate.revokedAt,
    })
    .execute();
}

/** Writes only if the stored time is older than `before`, so that simultaneous requests write once. */
export async function recordDeviceSeen(
  db: Db,
  seen: { orgId: string; id: string; now: number; before: number },
): Promise<void> {
  await db
    .updateTable("device")
    .set({ last_seen_at: seen.now })
    .where("org_id", "=", seen.orgId)
    .where("id", "=", seen.id)
    .where((eb) => eb.or([eb("last_seen_at", "is", null), eb("last_seen_at", "<=", seen.before)]))
    .execute();
}

export function toDevice(row: Selectable<DeviceTable>): Device {
  return {
    orgId: row.org_id,
    id: row.id,
    name: row.name,
    attestation: row.attestation as Attestation,
    ekHash: row.ek_hash,
    akPublic: row.ak_public,
    enrolledAt: row.enrolled_at,
    revokedAt: row.revoked_at,
    revokedReason: row.revoked_reason as RevocationReason | null,
    lastSeenAt: row.last_seen_at,
  };
}

export function toCertificate(row: Selectable<DeviceCertificateTable>): DeviceCertificate {
  return {
    orgId: row.org_id,
    fingerprint: row.fingerprint,
    deviceId: row.device_id,
    generation: row.generation,
    serial: row.serial,
    keyHash: row.key_hash,
    der: Buffer.from(row.certificate, "base64"),
    notBefore: row.not_before,
    notAfter: row.not_after,
    issuedAt: row.issued_at,
    supersededAt: row.superseded_at,
    revokedAt: row.revoked_at,
  };
}

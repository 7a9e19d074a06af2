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

/** Revoked and superseded ones are found too. @param fingerprint SHA-256 of the DER, base64url */
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

/** Fails on an EK that another active device of the organisation has. */
export async function insertDevice(db: Db, device: Device): Promise<void> {
  await db
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
    .execute();
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

/** Output of devices, their certificates and enrollment codes. */
import {
  certificateStatus,
  type Device,
  type DeviceCertificate,
  type EnrolmentCode,
} from "../../core/devices/device.ts";
import type { ListedDevice } from "../../features/device-identity/admin/device-list.store.ts";
import { fields, formatTime, formatTimeOrNull, table } from "../output.ts";

const deviceRecord = (device: Device) => ({
  id: device.id,
  name: device.name,
  attestation: device.attestation,
  enrolledAt: formatTime(device.enrolledAt),
  lastSeenAt: formatTimeOrNull(device.lastSeenAt),
  revokedAt: formatTimeOrNull(device.revokedAt),
  revokedReason: device.revokedReason,
});

export const deviceListRecord = ({ state, certificate, ...device }: ListedDevice) => ({
  ...deviceRecord(device),
  state,
  certificate: certificate && { serial: certificate.serial, notAfter: formatTime(certificate.notAfter) },
});

const certificateRecord = (certificate: DeviceCertificate, device: Device, now: number) => ({
  serial: certificate.serial,
  fingerprint: certificate.fingerprint,
  generation: certificate.generation,
  issuedAt: formatTime(certificate.issuedAt),
  notAfter: formatTime(certificate.notAfter),
  standing: certificateStatus(certificate, device, now),
});

export function deviceDetailsRecord(device: Device, certificates: readonly DeviceCertificate[], now: number) {
  const records = certificates.map((certificate) => certificateRecord(certificate, device, now));
  return { ...deviceRecord(device), certificates: records };
}

export function deviceDetailsLines({
  certificates,
  ...device
}: ReturnType<typeof deviceDetailsRecord>): string[] {
  const { id, name, attestation, enrolledAt, lastSeenAt, revokedAt, revokedReason } = device;
  return [
    ...fields({
      id,
      name,
      attestation,
      enrolled: enrolledAt,
      "last seen": lastSeenAt ?? "never",
      revoked: revokedAt === null ? "no" : `${revokedAt} (${revokedReason})`,
    }),
    "",
    ...table(
      ["SERIAL", "CA", "ISSUED", "EXPIRES", "STATUS"],
      certificates.map((one) => [
        one.serial,
        String(one.generation),
        one.issuedAt,
        one.notAfter,
        one.standing,
      ]),
    ),
  ];
}

export const codeRecord = (code: EnrolmentCode) => ({
  id: code.id,
  name: code.name,
  attestation: code.attestation,
  replaces: code.replaces,
  createdAt: formatTime(code.createdAt),
  createdBy: code.createdBy,
  expiresAt: formatTime(code.expiresAt),
});

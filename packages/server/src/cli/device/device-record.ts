/** Devices, their certificates and their enrollment codes as the commands show them. */
import {
  type Device,
  type DeviceCertificate,
  type EnrolmentCode,
  standingOf,
} from "../../core/devices/device.ts";
import type { ListedDevice } from "../../features/device-identity/admin/device-list.store.ts";
import { fields, table, time, timeOrNull } from "../answer.ts";

/** The hash of the EK and the AK stay where they are: nobody has a use for them. */
const deviceRecord = (device: Device) => ({
  id: device.id,
  name: device.name,
  attestation: device.attestation,
  enrolledAt: time(device.enrolledAt),
  lastSeenAt: timeOrNull(device.lastSeenAt),
  revokedAt: timeOrNull(device.revokedAt),
  revokedReason: device.revokedReason,
});

export const listedRecord = ({ state, certificate, ...device }: ListedDevice) => ({
  ...deviceRecord(device),
  state,
  certificate: certificate && { serial: certificate.serial, notAfter: time(certificate.notAfter) },
});

const certificateRecord = (certificate: DeviceCertificate, device: Device, now: number) => ({
  serial: certificate.serial,
  fingerprint: certificate.fingerprint,
  generation: certificate.generation,
  issuedAt: time(certificate.issuedAt),
  notAfter: time(certificate.notAfter),
  standing: standingOf(certificate, device, now),
});

export function shownRecord(device: Device, certificates: readonly DeviceCertificate[], now: number) {
  const records = certificates.map((certificate) => certificateRecord(certificate, device, now));
  return { ...deviceRecord(device), certificates: records };
}

export function shownLines({ certificates, ...device }: ReturnType<typeof shownRecord>): string[] {
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
      ["SERIAL", "CA", "ISSUED", "ENDS", "STANDING"],
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
  createdAt: time(code.createdAt),
  createdBy: code.createdBy,
  expiresAt: time(code.expiresAt),
});

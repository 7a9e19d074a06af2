/** Devices, their certificates and enrolment codes as API v1 shows them. */
import Type from "typebox";
import {
  attestationPolicies,
  attestations,
  type CertificateStatus,
  certificateStatus,
  type Device,
  type DeviceCertificate,
  type EnrolmentCode,
  revocationReasons,
} from "../../../core/devices/device.ts";
import { type DeviceState, deviceStates } from "../../../core/devices/devices-by-state.store.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { memoryFields } from "../lists/list-fields.ts";

const uuid = (description?: string) => Type.String({ format: "uuid", ...(description && { description }) });
const uuidOrNull = (description: string) => Type.Union([uuid(), Type.Null()], { description });
const time = () => Type.String({ format: "date-time" });

export const deviceSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    state: Type.Enum([...deviceStates], { description: "`expired`: its last certificate has expired" }),
    attestation: Type.Enum([...attestations], { description: "Whether a TPM attested the key" }),
    certificate: Type.Union(
      [Type.Object({ id: Type.String(), serial: Type.String(), notAfter: time() }), Type.Null()],
      { description: "The latest" },
    ),
    ...{ lastSeenAt: timeOrNull, revokedAt: timeOrNull },
    revokedReason: Type.Union([Type.Enum([...revocationReasons]), Type.Null()]),
    createdAt: Type.String({ format: "date-time", description: "When it was enrolled" }),
    updatedAt: Type.String({ format: "date-time", description: "Enrolled, renewed or revoked" }),
  },
  { title: "ApiDevice" },
);

export interface ListedDevice extends Device {
  readonly state: DeviceState;
  readonly certificate: Pick<DeviceCertificate, "fingerprint" | "serial" | "issuedAt" | "notAfter"> | null;
}

export const deviceRecord = ({ certificate: latest, ...device }: ListedDevice) => ({
  ...{ id: device.id, name: device.name, state: device.state, attestation: device.attestation },
  certificate: latest && {
    ...{ id: latest.fingerprint, serial: latest.serial, notAfter: wireTime(latest.notAfter) },
  },
  lastSeenAt: wireTimeOrNull(device.lastSeenAt),
  ...{ revokedAt: wireTimeOrNull(device.revokedAt), revokedReason: device.revokedReason },
  createdAt: wireTime(device.enrolledAt),
  updatedAt: wireTime(device.revokedAt ?? latest?.issuedAt ?? device.enrolledAt),
});

export const revocation = strictObject(
  {
    reason: Type.Optional(
      Type.Enum([...revocationReasons], { description: "By CRL and OCSP; default: `unspecified`" }),
    ),
  },
  { title: "ApiDeviceRevocation" },
);

const statuses = [
  "good",
  "revoked",
  "superseded",
  "expired",
  "not-yet-valid",
] as const satisfies readonly CertificateStatus[];

export const certificateSchema = Type.Object(
  {
    id: Type.String({ description: "SHA-256 of the certificate, base64url, as `x5t#S256`" }),
    ...{ serial: Type.String(), status: Type.Enum([...statuses]) },
    ...{ notBefore: time(), notAfter: time(), createdAt: time() },
    ...{ supersededAt: timeOrNull, revokedAt: timeOrNull },
  },
  { title: "ApiDeviceCertificate" },
);

export const certificateFields = memoryFields({
  ...({ id: "text", serial: "text", status: "text", notBefore: "time", notAfter: "time" } as const),
  ...({ createdAt: "time", supersededAt: "time", revokedAt: "time" } as const),
});

export const certificateRecord = (device: Device, certificate: DeviceCertificate, now: number) => ({
  ...{ id: certificate.fingerprint, serial: certificate.serial },
  status: certificateStatus(certificate, device, now),
  ...{ notBefore: wireTime(certificate.notBefore), notAfter: wireTime(certificate.notAfter) },
  createdAt: wireTime(certificate.issuedAt),
  supersededAt: wireTimeOrNull(certificate.supersededAt),
  revokedAt: wireTimeOrNull(certificate.revokedAt),
});

export const codeStates = ["open", "used", "withdrawn", "expired"] as const;

export const newCode = strictObject(
  {
    name: Type.Optional(
      Type.String({ maxLength: 200, description: "Of the device: 1 to 100 characters; default: its id" }),
    ),
    attestation: Type.Optional(
      Type.Enum([...attestationPolicies], {
        description: "Can only be stricter than the organisation's policy; default: `none`",
      }),
    ),
    expiresInSeconds: Type.Optional(
      Type.Integer({ minimum: 600, maximum: 604_800, description: "Default: 86400" }),
    ),
    replaces: Type.Optional(uuid("A device that is revoked when this one is enrolled")),
  },
  { title: "ApiNewEnrollmentCode" },
);

export const codeSchema = Type.Object(
  {
    id: uuid(),
    name: Type.Union([Type.String(), Type.Null()]),
    attestation: Type.Enum([...attestationPolicies]),
    replaces: uuidOrNull("The device that it replaces"),
    state: Type.Enum([...codeStates]),
    deviceId: uuidOrNull("The device that was enrolled by it"),
    ...{ expiresAt: time(), usedAt: timeOrNull, withdrawnAt: timeOrNull },
    createdBy: Type.String({ description: "As the audit log names actors" }),
    ...{ createdAt: time(), updatedAt: time() },
  },
  { title: "ApiEnrollmentCode" },
);

/** The only answer with the code. */
export const createdCode = Type.Object(
  {
    ...codeSchema.properties,
    code: Type.Union([Type.String(), Type.Null()], { description: "Null when the answer is repeated" }),
  },
  { title: "ApiCreatedEnrollmentCode" },
);

export function codeState(
  { usedAt, withdrawnAt, expiresAt }: Pick<EnrolmentCode, "usedAt" | "withdrawnAt" | "expiresAt">,
  now: number,
): (typeof codeStates)[number] {
  if (usedAt !== null) return "used";
  if (withdrawnAt !== null) return "withdrawn";
  return expiresAt > now ? "open" : "expired";
}

export const codeRecord = (code: EnrolmentCode, now: number) => ({
  ...{ id: code.id, name: code.name, attestation: code.attestation, replaces: code.replaces },
  ...{ state: codeState(code, now), deviceId: code.deviceId },
  expiresAt: wireTime(code.expiresAt),
  usedAt: wireTimeOrNull(code.usedAt),
  withdrawnAt: wireTimeOrNull(code.withdrawnAt),
  createdBy: code.createdBy,
  createdAt: wireTime(code.createdAt),
  updatedAt: wireTime(code.usedAt ?? code.withdrawnAt ?? code.createdAt),
});

/** Enrols a device: issues its certificate and redeems the enrolment code (device-identity.md §1). */

import type { Csr } from "@signet/protocol/csr/csr";
import { newUuid } from "@signet/protocol/uuid";
import { auditFields, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { type Attestation, type EnrolmentCode, stricterPolicy } from "../../../core/devices/device.ts";
import { insertCertificate, insertDevice, insertDeviceKey } from "../../../core/devices/devices.store.ts";
import { revokeDeviceInTransaction } from "../../../core/devices/revoke-device.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { Db } from "../../../db/open.ts";
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import { useCode } from "./enrolment-code.store.ts";
import { invalidCode } from "./enrolment-code.ts";
import { type CertifiedKey, certificateRow, certifiedKey } from "./request-members.ts";

export interface EnrolDeviceDeps extends CoreDeps {
  readonly deviceCa: Pick<DeviceCa, "issue">;
}

export interface Enrolment {
  readonly organisation: { readonly id: string };
  readonly codeHash: string;
  readonly csr: Csr;
  /** Proven by the TPM. */
  readonly attested?: {
    /** SHA-256 of the EK's SPKI, base64url. */
    readonly ekHash: string;
    /** Base64 TPMT_PUBLIC of the attestation key, and of the device's key. */
    readonly akPublic: string;
    readonly keyPublic: string;
  };
  readonly address: string;
}

/**
 * Signs first, then redeems the code and stores key and device in one transaction: a failure leaves the code usable.
 * @throws CodedError 401 invalid_code; 403 attestation_required; 404 when the organisation was disabled meanwhile; 409
 * key_already_enrolled, ek_already_enrolled
 */
export async function enrolDevice(deps: EnrolDeviceDeps, enrolment: Enrolment): Promise<CertifiedKey> {
  const { organisation, csr, attested, address } = enrolment;
  const deviceId = newUuid();
  const attestation: Attestation = attested ? "tpm" : "none";
  const { id: orgId } = organisation;
  const issued = await deps.deviceCa.issue({ orgId, deviceId, spki: csr.spki, attestation });
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    const code = await useCode(tx, { orgId, codeHash: enrolment.codeHash, deviceId, now });
    if (!code) throw invalidCode("used, withdrawn or expired meanwhile");
    await requirePolicy(tx, code, attestation);
    await revokeReplaced(tx, code, { deviceId, address, now });
    await insertNewDevice(tx, enrolment, { code, deviceId, now });
    await insertCertificate(tx, certificateRow(issued, { orgId, deviceId, keyHash: csr.keyHash, now }));
    await recordAuditEvent(tx, {
      ...auditFields({ orgId, actor: deviceActor(deviceId), address }, now),
      action: "device.enrolled",
      target: deviceId,
      details: { code: code.id, attestation, fingerprint: issued.fingerprint },
    });
  });
  return certifiedKey({ id: deviceId, attestation }, issued);
}

export const deviceActor = (deviceId: string): string => `device:${deviceId}`;

/**
 * Checked in the transaction: the organisation may have begun to require a TPM, or have been disabled, since the request
 * came in.
 */
async function requirePolicy(tx: Db, code: EnrolmentCode, attestation: Attestation): Promise<void> {
  const organisation = await findOrganisation(tx, code.orgId);
  if (!organisation || organisation.disabledAt !== null) throw codedNotFound();
  const policy = stricterPolicy(organisation.settings.deviceAttestation, code.attestation);
  if (policy === "required" && attestation === "none")
    throw new CodedError(403, "attestation_required", "this device must be enrolled with a TPM");
}

async function revokeReplaced(
  tx: Db,
  { orgId, replaces }: EnrolmentCode,
  { deviceId, address, now }: { deviceId: string; address: string; now: number },
): Promise<void> {
  if (replaces === null) return;
  const revocation = { orgId, deviceId: replaces, reason: "superseded", address } as const;
  await revokeDeviceInTransaction(tx, { ...revocation, actor: deviceActor(deviceId) }, now);
}

async function insertNewDevice(
  tx: Db,
  { csr, attested }: Enrolment,
  { code, deviceId, now }: { code: EnrolmentCode; deviceId: string; now: number },
): Promise<void> {
  const { orgId } = code;
  const inserted = await insertDevice(tx, {
    orgId,
    id: deviceId,
    name: code.name ?? deviceId,
    attestation: attested ? "tpm" : "none",
    ekHash: attested?.ekHash ?? null,
    akPublic: attested?.akPublic ?? null,
    enrolledAt: now,
    revokedAt: null,
    revokedReason: null,
    lastSeenAt: null,
  });
  if (!inserted) throw ekAlreadyEnrolled();
  const { keyHash } = csr;
  const tpmPublic = attested?.keyPublic ?? null;
  if (!(await insertDeviceKey(tx, { orgId, keyHash, deviceId, tpmPublic, createdAt: now })))
    throw keyAlreadyEnrolled();
}

export const ekAlreadyEnrolled = (): CodedError =>
  new CodedError(409, "ek_already_enrolled", "an active device of this organisation already has this TPM");

export const keyAlreadyEnrolled = (): CodedError =>
  new CodedError(409, "key_already_enrolled", "this key was enrolled before: create a new one");

/** What makes a device of an enrollment code and a request that has proven its key (device-identity.md §1). */
import type { Csr } from "@signet/protocol/csr/csr";
import { newUuid } from "@signet/protocol/uuid";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { type Attestation, type EnrollmentCode, tightened } from "../../../core/devices/device.ts";
import { insertCertificate, insertDevice, insertDeviceKey } from "../../../core/devices/devices.store.ts";
import { revokeDeviceWithin } from "../../../core/devices/revoke-device.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { Database, Db } from "../../../db/open.ts";
import { CodedError, nothingHere } from "../../../http/coded-error.ts";
import { useCode } from "./enrollment-code.store.ts";
import { invalidCode } from "./enrollment-code.ts";
import { type CertifiedKey, certificateRow } from "./issued-certificate.ts";

export interface EnrolDeviceDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly deviceCa: Pick<DeviceCa, "issue">;
}

export interface Enrolment {
  readonly organisation: { readonly id: string };
  /** Of the code, which is used up by it. */
  readonly codeHash: string;
  readonly csr: Csr;
  /** What a TPM has proven. */
  readonly attested?: {
    /** SHA-256 of the EK's SPKI, base64url. */
    readonly ekHash: string;
    /** Base64 TPMT_PUBLIC, as the next one: of the device's own key. */
    readonly akPublic: string;
    readonly keyPublic: string;
  };
  /** Where the request came from. */
  readonly address: string;
}

/**
 * Signs first, and then takes the code, the key and the device in one transaction: what goes wrong there leaves nothing
 * behind, the code least of all.
 * @throws CodedError 401 invalid_code; 403 attestation_required; 404 when the organisation is disabled meanwhile; 409
 * key_already_enrolled, ek_already_enrolled
 */
export async function enrolDevice(deps: EnrolDeviceDeps, enrolment: Enrolment): Promise<CertifiedKey> {
  const { organisation, csr, attested } = enrolment;
  const deviceId = newUuid();
  const attestation: Attestation = attested ? "tpm" : "none";
  const orgId = organisation.id;
  const issued = await deps.deviceCa.issue({ orgId, deviceId, spki: csr.spki, attestation });
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    const code = await useCode(tx, { orgId, codeHash: enrolment.codeHash, deviceId, now });
    if (!code) throw invalidCode("used, withdrawn or expired meanwhile");
    await requirePolicy(tx, code, attestation);
    await endReplaced(tx, code, { deviceId, address: enrolment.address, now });
    await insertNewDevice(tx, enrolment, { code, deviceId, now });
    await insertCertificate(tx, certificateRow(issued, { orgId, deviceId, keyHash: csr.keyHash, now }));
    const { address } = enrolment;
    const details = { code: code.id, attestation, fingerprint: issued.fingerprint };
    const event = { orgId, at: now, address, action: "device.enrolled" as const, target: deviceId, details };
    await recordAuditEvent(tx, { ...event, actor: actorOf(deviceId) });
  });
  const { pem, caPem, notAfter } = issued;
  return { deviceId, certificate: pem, ca: caPem, attestation, notAfter };
}

/** As the audit log has it. */
export const actorOf = (deviceId: string): string => `device:${deviceId}`;

/**
 * A code or an organisation that asks for a TPM is not talked out of it by leaving the TPM's part out. Asked here, as it is
 * now: it may have come to ask for one, or have been disabled, since the request came in.
 */
async function requirePolicy(tx: Db, code: EnrollmentCode, attestation: Attestation): Promise<void> {
  const organisation = await findOrganisation(tx, code.orgId);
  if (!organisation || organisation.disabledAt !== null) throw nothingHere();
  const policy = tightened(organisation.settings.deviceAttestation, code.attestation);
  if (policy === "required" && attestation === "none")
    throw new CodedError(403, "attestation_required", "this device must be enrolled with a TPM");
}

async function endReplaced(
  tx: Db,
  { orgId, replaces }: EnrollmentCode,
  { deviceId, address, now }: { deviceId: string; address: string; now: number },
): Promise<void> {
  if (replaces === null) return;
  const revocation = { orgId, deviceId: replaces, reason: "superseded", address } as const;
  await revokeDeviceWithin(tx, { ...revocation, actor: actorOf(deviceId) }, now);
}

async function insertNewDevice(
  tx: Db,
  { csr, attested }: Enrolment,
  { code, deviceId, now }: { code: EnrollmentCode; deviceId: string; now: number },
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
  if (!inserted)
    throw new CodedError(409, "ek_already_enrolled", "an active device of this organisation has this TPM");
  const { keyHash } = csr;
  const tpmPublic = attested?.keyPublic ?? null;
  if (!(await insertDeviceKey(tx, { orgId, keyHash, deviceId, tpmPublic, createdAt: now })))
    throw keyAlreadyEnrolled();
}

export const keyAlreadyEnrolled = (): CodedError =>
  new CodedError(409, "key_already_enrolled", "this key was enrolled before: make a new one");

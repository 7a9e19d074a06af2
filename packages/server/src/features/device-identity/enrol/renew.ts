/** Renews a device certificate: once, with a day of overlap (device-identity.md §1). */
import { X509Certificate } from "node:crypto";
import type { Csr } from "@signet/protocol/csr/csr";
import { auditFields, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import type { DeviceCertificate } from "../../../core/devices/device.ts";
import {
  findCurrentCertificate,
  findDeviceKey,
  insertCertificate,
  insertDeviceKey,
  lockActiveDevice,
  supersedeCertificate,
} from "../../../core/devices/devices.store.ts";
import {
  type PresentedDevice,
  presentedDevice,
  type RefusedCertificate,
} from "../../../core/devices/presented-device.ts";
import { CERTIFICATE_CHALLENGE } from "../../../http/challenge.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { deviceActor, keyAlreadyEnrolled } from "./enrol-device.ts";
import { countEnrolmentAttempt, type EnrolmentCodeDeps } from "./enrolment-code.ts";
import { type RenewalEvidence, requireProvenKey } from "./renewal-evidence.ts";
import { type CertifiedKey, certificateRow, certifiedKey, parseCsr } from "./request-members.ts";

export interface RenewDeps extends EnrolmentCodeDeps {
  readonly deviceCa: Pick<DeviceCa, "issue" | "generations" | "isIssuedByCa">;
}

export interface Renewal {
  readonly orgId: string;
  /** DER, from `clientCertificate`. */
  readonly presented: Buffer | undefined;
  readonly csr: string;
  readonly evidence: RenewalEvidence;
  readonly address: string;
}

type Presented = Extract<PresentedDevice, { kind: "good" }>;

/**
 * A repeated request for the same key gets the same certificate, in case the response was lost.
 * @throws CodedError 400 invalid_request, csr_…; 401 invalid_client; 403 when the TPM's attestation fails;
 * 409 key_already_enrolled; 429
 */
export async function renewCertificate(deps: RenewDeps, renewal: Renewal): Promise<CertifiedKey> {
  const { orgId, address } = renewal;
  await countEnrolmentAttempt(deps, orgId, address);
  const current = await requireDevice(deps, renewal);
  const csr = parseCsr(renewal.csr);
  if (current.certificate.supersededAt === null) {
    const renewed = await issueRenewal(deps, renewal, { ...current, csr });
    if (renewed) return renewed;
  }
  return findSuccessor(deps, current, csr);
}

/** @returns undefined when another request renewed the certificate meanwhile */
async function issueRenewal(
  deps: RenewDeps,
  { orgId, address, evidence }: Renewal,
  { device, certificate, csr }: Presented & { readonly csr: Csr },
): Promise<CertifiedKey | undefined> {
  requireDue(certificate, deps.clock());
  const isKept = csr.keyHash === certificate.keyHash;
  const stored = isKept ? await findDeviceKey(deps.database.query, orgId, csr.keyHash) : undefined;
  const tpmPublic = requireProvenKey({ device, certificate, csr }, evidence, stored);
  const { id: deviceId, attestation } = device;
  const issued = await deps.deviceCa.issue({ orgId, deviceId, spki: csr.spki, attestation });
  const now = deps.clock();
  const { keyHash } = csr;
  const isRenewed = await deps.database.transaction(async (tx) => {
    if (!(await lockActiveDevice(tx, orgId, deviceId))) throw refused("revoked");
    if (!(await supersedeCertificate(tx, { orgId, fingerprint: certificate.fingerprint, now }))) return false;
    const isNew =
      isKept || (await insertDeviceKey(tx, { orgId, keyHash, deviceId, tpmPublic, createdAt: now }));
    if (!isNew) throw keyAlreadyEnrolled();
    await insertCertificate(tx, certificateRow(issued, { orgId, deviceId, keyHash, now }));
    await recordAuditEvent(tx, {
      ...auditFields({ orgId, actor: deviceActor(deviceId), address }, now),
      action: "device.renewed",
      target: deviceId,
      details: { fingerprint: issued.fingerprint, replaced: certificate.fingerprint, newKey: !isKept },
    });
    return true;
  });
  return isRenewed ? certifiedKey(device, issued) : undefined;
}

async function requireDevice(deps: RenewDeps, { orgId, presented }: Renewal): Promise<Presented> {
  if (!presented)
    throw new CodedError(401, "invalid_client", "no client certificate was presented", {
      headers: CERTIFICATE_CHALLENGE,
    });
  const found = await presentedDevice(deps, orgId, presented);
  if (found.kind === "refused") throw refused(found.reason);
  return found;
}

/** The caller has proven possession of the key: the status of its certificate may be disclosed. */
function refused(reason: RefusedCertificate): CodedError {
  const isOurs = reason !== "unknown" && reason !== "forged";
  const description = isOurs
    ? `the certificate is ${reason}`
    : "the certificate does not belong to a device of this organisation";
  return new CodedError(401, "invalid_client", description, {
    cause: `device certificate: ${reason}`,
    headers: CERTIFICATE_CHALLENGE,
  });
}

function requireDue({ notBefore, notAfter }: DeviceCertificate, now: number): void {
  const due = notBefore + Math.ceil(((notAfter - notBefore) * 2) / 3);
  if (now < due) throw notRenewable(`the certificate can be renewed from ${new Date(due).toISOString()}`);
}

/** The device's newest certificate. @throws CodedError 400 when that has another key */
async function findSuccessor(
  { database, deviceCa }: RenewDeps,
  { device }: Presented,
  csr: Csr,
): Promise<CertifiedKey> {
  const { orgId } = device;
  const next = await findCurrentCertificate(database.query, orgId, device.id);
  if (next?.keyHash !== csr.keyHash)
    throw notRenewable("the certificate was already renewed for another key");
  const issuers = await deviceCa.generations(orgId);
  const issuer = issuers.find(({ generation }) => generation === next.generation);
  if (!issuer) throw new Error("the CA generation of a valid certificate is missing");
  const pem = new X509Certificate(next.der).toString();
  return certifiedKey(device, { pem, caPem: issuer.certificatePem, notAfter: next.notAfter });
}

const notRenewable = (description: string) => new CodedError(400, "invalid_request", description);

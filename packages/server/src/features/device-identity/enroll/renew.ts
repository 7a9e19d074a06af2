/** The next certificate for a device that shows its current one (device-identity.md §1): once, with a day of overlap. */
import { X509Certificate } from "node:crypto";
import type { Csr } from "@signet/protocol/csr/csr";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import type { DeviceCertificate } from "../../../core/devices/device.ts";
import {
  findCurrentCertificate,
  findDeviceKey,
  holdActiveDevice,
  insertCertificate,
  insertDeviceKey,
  supersedeCertificate,
} from "../../../core/devices/devices.store.ts";
import {
  type PresentedDevice,
  presentedDevice,
  type RefusedCertificate,
} from "../../../core/devices/presented-device.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { requireRenewalAttestation } from "../tpm/renewal-attestation.ts";
import { actorOf, keyAlreadyEnrolled } from "./enrol-device.ts";
import { countEnrollment, type EnrollmentCodeDeps } from "./enrollment-code.ts";
import { type CertifiedKey, certificateRow } from "./issued-certificate.ts";
import { provenKey, type RenewalEvidence } from "./renewal-evidence.ts";
import { csrOf } from "./request-members.ts";

export interface RenewDeps extends EnrollmentCodeDeps {
  readonly deviceCa: Pick<DeviceCa, "issue" | "generations" | "isIssuedHere">;
}

export interface Renewal {
  readonly orgId: string;
  /** Of `clientCertificateOf`: DER. */
  readonly presented: Buffer | undefined;
  readonly csr: string;
  readonly evidence: RenewalEvidence;
  readonly address: string;
}

type Presented = Extract<PresentedDevice, { kind: "good" }>;

/**
 * A certificate that was renewed already gets the same successor again, for the same key: an answer may be lost on its way.
 * @throws CodedError 400 invalid_request, csr_…; 401 invalid_client; 403 with what a TPM has not proven;
 * 409 key_already_enrolled; 429
 */
export async function renewCertificate(deps: RenewDeps, renewal: Renewal): Promise<CertifiedKey> {
  const { orgId, address } = renewal;
  await countEnrollment(deps, orgId, address);
  const current = await requireDevice(deps, renewal);
  const csr = csrOf(renewal.csr);
  if (current.certificate.supersededAt === null) {
    const renewed = await renewOnce(deps, renewal, { ...current, csr });
    if (renewed) return renewed;
  }
  return successorOf(deps, current, csr);
}

interface Wanted extends Presented {
  readonly csr: Csr;
}

/** @returns undefined when another request has renewed it meanwhile */
async function renewOnce(
  deps: RenewDeps,
  { orgId, address, evidence }: Renewal,
  { device, certificate, csr }: Wanted,
): Promise<CertifiedKey | undefined> {
  requireDue(certificate, deps.clock());
  const isKept = csr.keyHash === certificate.keyHash;
  const stored = isKept ? await findDeviceKey(deps.database.query, orgId, csr.keyHash) : undefined;
  const tpmPublic = provenKey(requireRenewalAttestation, { device, certificate, csr, evidence, stored });
  const { id: deviceId, attestation } = device;
  const issued = await deps.deviceCa.issue({ orgId, deviceId, spki: csr.spki, attestation });
  const now = deps.clock();
  const { keyHash } = csr;
  const isDone = await deps.database.transaction(async (tx) => {
    if (!(await holdActiveDevice(tx, orgId, deviceId))) throw refused("revoked");
    if (!(await supersedeCertificate(tx, { orgId, fingerprint: certificate.fingerprint, now }))) return false;
    const isNew =
      isKept || (await insertDeviceKey(tx, { orgId, keyHash, deviceId, tpmPublic, createdAt: now }));
    if (!isNew) throw keyAlreadyEnrolled();
    await insertCertificate(tx, certificateRow(issued, { orgId, deviceId, keyHash, now }));
    const details = { fingerprint: issued.fingerprint, replaced: certificate.fingerprint, newKey: !isKept };
    const event = { orgId, at: now, address, action: "device.renewed" as const, target: deviceId, details };
    await recordAuditEvent(tx, { ...event, actor: actorOf(deviceId) });
    return true;
  });
  if (!isDone) return undefined;
  const { pem, caPem, notAfter } = issued;
  return { deviceId, certificate: pem, ca: caPem, attestation, notAfter };
}

/** @throws CodedError 401 */
async function requireDevice(deps: RenewDeps, { orgId, presented }: Renewal): Promise<Presented> {
  if (!presented) throw new CodedError(401, "invalid_client", "the device's certificate was not presented");
  const found = await presentedDevice(deps, orgId, presented);
  if (found.kind === "refused") throw refused(found.reason);
  return found;
}

/** Who comes here has proven the key: what its certificate is worth may be told. */
function refused(reason: RefusedCertificate): CodedError {
  const isOurs = reason !== "unknown" && reason !== "forged";
  const description = isOurs
    ? `the certificate is ${reason}`
    : "the certificate is no device's of this organisation";
  return new CodedError(401, "invalid_client", description, { cause: `device certificate: ${reason}` });
}

function requireDue({ notBefore, notAfter }: DeviceCertificate, now: number): void {
  const due = notBefore + Math.ceil(((notAfter - notBefore) * 2) / 3);
  if (now < due) throw notNow(`the certificate can be renewed from ${new Date(due).toISOString()}`);
}

/**
 * What it was renewed to: by then the device's newest, which is not due for long.
 * @throws CodedError 400 when that is for another key: a certificate is renewed once
 */
async function successorOf(
  { database, deviceCa }: RenewDeps,
  { device }: Presented,
  csr: Csr,
): Promise<CertifiedKey> {
  const { orgId, id: deviceId, attestation } = device;
  const next = await findCurrentCertificate(database.query, orgId, deviceId);
  if (next?.keyHash !== csr.keyHash) throw notNow("the certificate was renewed before, for another key");
  const issuers = await deviceCa.generations(orgId);
  const issuer = issuers.find(({ generation }) => generation === next.generation);
  if (!issuer) throw new Error("a certificate that is good has no generation of the CA");
  const certificate = new X509Certificate(next.der).toString();
  return { deviceId, certificate, ca: issuer.certificatePem, attestation, notAfter: next.notAfter };
}

const notNow = (description: string) => new CodedError(400, "invalid_request", description);

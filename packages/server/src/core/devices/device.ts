/** A device (a machine with a certificate of its organisation's CA), its certificates and their status (device-identity.md §2, §3). */
import type { RecordOf } from "../../db/records.ts";
import type {
  DeviceCertificateTable,
  DeviceEnrollmentCodeTable,
  DeviceTable,
} from "../../db/tables/device-identity.ts";

export const attestations = ["none", "tpm"] as const;
/** Whether a TPM attested the key at enrolment. */
export type Attestation = (typeof attestations)[number];

/** Weakest first. An enrolment code can only require more than its organisation. */
export const attestationPolicies = ["none", "optional", "required"] as const;
export type AttestationPolicy = (typeof attestationPolicies)[number];

export const ekTrustModes = ["chain", "allowlist", "both"] as const;
/** How endorsement keys are trusted: by a certificate chain to an imported root, by an allow list, or by both. */
export type EkTrust = (typeof ekTrustModes)[number];

export const revocationReasons = [
  "unspecified",
  "keyCompromise",
  "superseded",
  "cessationOfOperation",
] as const;
/** By their names in RFC 5280 §5.3.1. */
export type RevocationReason = (typeof revocationReasons)[number];

export interface Device extends RecordOf<Omit<DeviceTable, "attestation" | "revoked_reason">> {
  readonly attestation: Attestation;
  readonly revokedReason: RevocationReason | null;
}

export interface DeviceCertificate extends RecordOf<Omit<DeviceCertificateTable, "certificate">> {
  readonly der: Buffer;
}

export interface EnrolmentCode
  extends RecordOf<Omit<DeviceEnrollmentCodeTable, "code_hash" | "attestation">> {
  readonly attestation: AttestationPolicy;
}

/** How long the previous certificate stays valid after a renewal. */
export const OVERLAP_MS = 86_400_000;

export type CertificateStatus = "good" | "revoked" | "superseded" | "expired" | "not-yet-valid";

export function certificateStatus(
  certificate: DeviceCertificate,
  device: Device,
  now: number,
): CertificateStatus {
  const { notBefore, notAfter, revokedAt, supersededAt } = certificate;
  if (device.revokedAt !== null || revokedAt !== null) return "revoked";
  if (notAfter <= now) return "expired";
  if (notBefore > now) return "not-yet-valid";
  return supersededAt !== null && supersededAt + OVERLAP_MS <= now ? "superseded" : "good";
}

/** The stricter of the two. */
export const stricterPolicy = (policy: AttestationPolicy, code: AttestationPolicy): AttestationPolicy =>
  attestationPolicies.indexOf(code) > attestationPolicies.indexOf(policy) ? code : policy;

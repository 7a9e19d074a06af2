/** A device (a machine with a certificate of its organisation's CA), its certificates and their status (device-identity.md §2, §3). */

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

export interface Device {
  readonly orgId: string;
  readonly id: string;
  readonly name: string;
  readonly attestation: Attestation;
  /** SHA-256 of the EK's SPKI, base64url; null without a TPM. */
  readonly ekHash: string | null;
  /** Base64 TPMT_PUBLIC. */
  readonly akPublic: string | null;
  readonly enrolledAt: number;
  readonly revokedAt: number | null;
  readonly revokedReason: RevocationReason | null;
  readonly lastSeenAt: number | null;
}

export interface DeviceCertificate {
  readonly orgId: string;
  /** SHA-256 of the DER, base64url: the `x5t#S256` of tokens (RFC 8705 §3.1). */
  readonly fingerprint: string;
  readonly deviceId: string;
  /** The CA generation that issued it. */
  readonly generation: number;
  /** Hexadecimal, 32 digits. */
  readonly serial: string;
  /** SHA-256 of the SPKI, base64url. */
  readonly keyHash: string;
  readonly der: Buffer;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly issuedAt: number;
  readonly supersededAt: number | null;
  readonly revokedAt: number | null;
}

export interface EnrolmentCode {
  readonly orgId: string;
  readonly id: string;
  /** Of the device to enrol; null names it by its id. */
  readonly name: string | null;
  readonly attestation: AttestationPolicy;
  readonly replaces: string | null;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly deviceId: string | null;
  readonly withdrawnAt: number | null;
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

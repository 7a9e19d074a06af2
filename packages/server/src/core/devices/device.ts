/** A device of an organisation, the certificates that its CA gave it, and what each is worth now (device-identity.md §2, §3). */

export const attestations = ["none", "tpm"] as const;
/** Whether a TPM vouched for the key when the device was enrolled. */
export type Attestation = (typeof attestations)[number];

/** What an organisation asks of its devices; a code's own can only tighten it. Weakest first. */
export const attestationPolicies = ["none", "optional", "required"] as const;
export type AttestationPolicy = (typeof attestationPolicies)[number];

export const ekTrustModes = ["chain", "allowlist", "both"] as const;
/** What makes an endorsement key believed: its certificate's chain to an imported root, a list of keys, or both together. */
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
  /** Of the CA that issued it. */
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

export interface EnrollmentCode {
  readonly orgId: string;
  readonly id: string;
  /** Of the device that it will enrol; null: the device is named by its id. */
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

/** How long a renewed device may go on with the certificate before. */
export const OVERLAP_MS = 86_400_000;

export type CertificateStanding = "good" | "revoked" | "superseded" | "expired" | "not-yet-valid";

/** What a certificate is worth at this moment; its device's end is its own. */
export function standingOf(certificate: DeviceCertificate, device: Device, now: number): CertificateStanding {
  const { notBefore, notAfter, revokedAt, supersededAt } = certificate;
  if (device.revokedAt !== null || revokedAt !== null) return "revoked";
  if (notAfter <= now) return "expired";
  if (notBefore > now) return "not-yet-valid";
  return supersededAt !== null && supersededAt + OVERLAP_MS <= now ? "superseded" : "good";
}

/** The stricter of the two. */
export const tightened = (policy: AttestationPolicy, code: AttestationPolicy): AttestationPolicy =>
  attestationPolicies.indexOf(code) > attestationPolicies.indexOf(policy) ? code : policy;

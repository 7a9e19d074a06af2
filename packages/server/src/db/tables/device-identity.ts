/** Device identity: the organisation's CA, its devices and their certificates. Codes, secrets and EKs as SHA-256 only. */

export interface DeviceCaTable {
  org_id: string;
  /** From 1. */
  generation: number;
  /** PEM. */
  certificate: string;
  /** PKCS#8, sealed under the master key for `device-ca|org|generation`. */
  private_key: string;
  not_after: number;
  created_at: number;
  /** A newer one issues from then on; this one signs CRLs and OCSP responses until its last certificate has expired. */
  retired_at: number | null;
}

/** The CRL of a generation as it was signed last. */
export interface DeviceCrlTable {
  org_id: string;
  generation: number;
  /** Grows with each CRL (RFC 5280 §5.2.3); 0: none has been signed yet. */
  crl_number: number;
  /** Base64 DER. */
  crl: string;
  this_update: number;
  next_update: number;
  /** It is signed anew when it is asked for from then on. */
  renew_at: number;
  /** Grows with each revocation, in its transaction: a CRL that was signed meanwhile is known to be old. */
  revocations: number;
}

export interface DeviceEnrollmentCodeTable {
  org_id: string;
  id: string;
  code_hash: string;
  /** Of the device to enrol; null names it by its id. */
  name: string | null;
  /** What the code asks beyond the organisation's policy: `none` (nothing), `optional` or `required`. */
  attestation: string;
  /** The device that is revoked when this one is enrolled. */
  replaces: string | null;
  created_at: number;
  created_by: string;
  expires_at: number;
  used_at: number | null;
  /** The device that was enrolled by it. */
  device_id: string | null;
  withdrawn_at: number | null;
}

export interface DeviceTable {
  org_id: string;
  id: string;
  name: string;
  attestation: string;
  /** SHA-256 of the EK's SPKI, base64url; null without a TPM. */
  ek_hash: string | null;
  /** Base64 TPMT_PUBLIC of the AK: renewal is proven by the same one. */
  ak_public: string | null;
  enrolled_at: number;
  revoked_at: number | null;
  /** An `RevocationReason` of core/devices/device.ts. */
  revoked_reason: string | null;
  last_seen_at: number | null;
}

export interface DeviceCertificateTable {
  org_id: string;
  /** SHA-256 of the DER, base64url: also the `x5t#S256` of tokens. */
  fingerprint: string;
  device_id: string;
  /** The CA generation that issued it. */
  generation: number;
  /** Hexadecimal, 32 digits. */
  serial: string;
  /** SHA-256 of the SPKI, base64url. */
  key_hash: string;
  /** Base64 DER. */
  certificate: string;
  not_before: number;
  not_after: number;
  issued_at: number;
  /** Its successor was issued then; it is good for a day more. */
  superseded_at: number | null;
  revoked_at: number | null;
}

/** Every key that was ever enrolled: none comes back. */
export interface DeviceKeyTable {
  org_id: string;
  key_hash: string;
  device_id: string;
  /** Base64 TPMT_PUBLIC of an attested key: null for a file's. */
  tpm_public: string | null;
  created_at: number;
}

export interface DeviceChallengeTable {
  org_id: string;
  id: string;
  code_hash: string;
  secret_hash: string;
  /** Base64url: it goes into the attestation's qualifying data. */
  nonce: string;
  ek_hash: string;
  /** JSON. */
  ek_path: string;
  ak_public: string;
  created_at: number;
  expires_at: number;
}

/** Whose EK certificates an organisation believes. */
export interface DeviceRootTable {
  org_id: string;
  fingerprint: string;
  /** PEM. */
  certificate: string;
  /** For people. */
  subject: string;
  /** SHA-256 of the name as DER, base64url: what an EK's issuers are looked up by. */
  subject_hash: string;
  not_after: number;
  created_at: number;
  created_by: string;
}

export interface DeviceAllowedEkTable {
  org_id: string;
  ek_hash: string;
  label: string;
  created_at: number;
  created_by: string;
}

export interface DeviceIdentitySchema {
  device_ca: DeviceCaTable;
  device_crl: DeviceCrlTable;
  device_enrollment_code: DeviceEnrollmentCodeTable;
  device: DeviceTable;
  device_certificate: DeviceCertificateTable;
  device_key: DeviceKeyTable;
  device_challenge: DeviceChallengeTable;
  device_root: DeviceRootTable;
  device_allowed_ek: DeviceAllowedEkTable;
}

/** The attestation that a device with a TPM presents at renewal (device-identity.md §1). */
import type { Csr } from "@signet/protocol/csr/csr";
import type { Device, DeviceCertificate } from "../../../core/devices/device.ts";
import type { DeviceKey } from "../../../core/devices/devices.store.ts";
import { CodedError } from "../../../http/coded-error.ts";

/** Base64, as sent. */
export interface RenewalEvidence {
  readonly attest?: string;
  readonly signature?: string;
  /** TPM2B_PUBLIC. */
  readonly keyPublic?: string;
}

export interface AttestedRenewal {
  readonly device: Device;
  readonly certificate: DeviceCertificate;
  readonly csr: Csr;
  readonly attest: string;
  readonly signature: string;
  /** As sent; undefined means the stored key. */
  readonly keyPublic: string | undefined;
  /** Base64 TPMT_PUBLIC of a retained key; undefined for a new one. */
  readonly storedKeyPublic: string | undefined;
}

/** @returns base64 TPMT_PUBLIC of the key. @throws CodedError 400 and 403 */
export type CheckAttestedRenewal = (renewal: AttestedRenewal) => string;

/**
 * A new key must be certified by the AK of the enrolment, or the certificate would claim TPM residency for a key in a file.
 * A retained key was certified before.
 * @param stored the row of a retained key
 * @returns base64 TPMT_PUBLIC; null without a TPM
 */
export function requireProvenKey(
  check: CheckAttestedRenewal,
  {
    evidence,
    stored,
    ...renewal
  }: Pick<AttestedRenewal, "device" | "certificate" | "csr"> & {
    readonly evidence: RenewalEvidence;
    readonly stored: DeviceKey | undefined;
  },
): string | null {
  const { attest, signature, keyPublic } = evidence;
  const isSent = Object.values(evidence).some((one) => one !== undefined);
  if (renewal.device.attestation === "none") {
    if (isSent) throw invalid("the device was enrolled without a TPM: attestation is not accepted");
    return null;
  }
  const storedKeyPublic = stored?.tpmPublic ?? undefined;
  if (!isSent && storedKeyPublic !== undefined) return storedKeyPublic;
  if (!isSent)
    throw new CodedError(403, "attestation_required", "a new key must be attested by the device's TPM");
  if (attest === undefined || signature === undefined)
    throw invalid("attest and signature are required together");
  if (storedKeyPublic === undefined && keyPublic === undefined)
    throw invalid("a new key requires key_public");
  return check({ ...renewal, attest, signature, keyPublic, storedKeyPublic });
}

const invalid = (description: string) => new CodedError(400, "invalid_request", description);

/** What a device that was enrolled with a TPM shows of the key of its renewal (device-identity.md §1). */
import type { Csr } from "@signet/protocol/csr/csr";
import type { Device, DeviceCertificate } from "../../../core/devices/device.ts";
import type { DeviceKey } from "../../../core/devices/devices.store.ts";
import { CodedError } from "../../../http/coded-error.ts";

/** As it was sent: base64. */
export interface RenewalEvidence {
  readonly attest?: string;
  readonly signature?: string;
  /** With its TPM2B size. */
  readonly keyPublic?: string;
}

export interface AttestedRenewal {
  readonly device: Device;
  /** The one that is renewed. */
  readonly certificate: DeviceCertificate;
  readonly csr: Csr;
  readonly attest: string;
  readonly signature: string;
  /** As it was sent; undefined: the stored one is meant. */
  readonly keyPublic: string | undefined;
  /** Base64 TPMT_PUBLIC of the key that is kept; undefined for a new one. */
  readonly storedKeyPublic: string | undefined;
}

/** @returns base64 TPMT_PUBLIC of the key. @throws CodedError 400 and 403 */
export type CheckAttestedRenewal = (renewal: AttestedRenewal) => string;

/**
 * A new key must be certified by the AK that the device was enrolled with, else the certificate would go on saying so of a
 * key in a file. A key that is kept was certified before.
 * @param stored what is known of the key, when it is kept
 * @returns base64 TPMT_PUBLIC; null without a TPM
 */
export function provenKey(
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
    if (isSent) throw unusable("the device was enrolled without a TPM: it has nothing to attest");
    return null;
  }
  const storedKeyPublic = stored?.tpmPublic ?? undefined;
  if (!isSent && storedKeyPublic !== undefined) return storedKeyPublic;
  if (!isSent)
    throw new CodedError(403, "attestation_required", "a new key must be attested by the device's TPM");
  if (attest === undefined || signature === undefined)
    throw unusable("attest and signature are needed together");
  if (storedKeyPublic === undefined && keyPublic === undefined) throw unusable("a new key needs key_public");
  return check({ ...renewal, attest, signature, keyPublic, storedKeyPublic });
}

const unusable = (description: string) => new CodedError(400, "invalid_request", description);

/** The attestation that a device with a TPM presents at renewal, by the AK of its enrolment (device-identity.md §1). */
import type { Csr } from "@signet/protocol/csr/csr";
import { readPublicArea } from "@signet/protocol/tpm/public-area";
import { renewalQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import type { Device, DeviceCertificate } from "../../../core/devices/device.ts";
import type { DeviceKey } from "../../../core/devices/devices.store.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { parseDeviceKey, requireAttestedKey } from "../tpm/attested-key.ts";

/** Base64, as sent; `key_public` is a TPM2B_PUBLIC, without it the stored key is meant. */
export interface RenewalEvidence {
  readonly attest?: string;
  readonly signature?: string;
  readonly key_public?: string;
}

interface RenewedKey {
  readonly device: Device;
  readonly certificate: DeviceCertificate;
  readonly csr: Csr;
}

/**
 * A new key must be certified by the AK of the enrolment, or the certificate would claim TPM residency for a key in a file.
 * A retained key was certified before.
 * @param stored the row of a retained key
 * @returns base64 TPMT_PUBLIC; null without a TPM. @throws CodedError 400 and 403
 */
export function requireProvenKey(
  renewed: RenewedKey,
  { attest, signature, key_public: keyPublic }: RenewalEvidence,
  stored: DeviceKey | undefined,
): string | null {
  const isSent = [attest, signature, keyPublic].some((member) => member !== undefined);
  if (renewed.device.attestation === "none") {
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
  return requireRenewalAttestation({ ...renewed, attest, signature, keyPublic, storedKeyPublic });
}

const invalid = (description: string) => new CodedError(400, "invalid_request", description);

/** @throws CodedError as `requireAttestedKey`; 403 attest_name when `key_public` is not the retained key */
export function requireRenewalAttestation({
  device: { orgId, id, akPublic },
  certificate,
  csr,
  attest,
  signature,
  keyPublic,
  storedKeyPublic,
}: RenewedKey & {
  readonly attest: string;
  readonly signature: string;
  readonly keyPublic: string | undefined;
  readonly storedKeyPublic: string | undefined;
}): string {
  if (akPublic === null) throw new Error("a device with a TPM has no attestation key");
  const stored = storedKeyPublic === undefined ? undefined : Buffer.from(storedKeyPublic, "base64");
  const key = requireAttestedKey({
    ak: readPublicArea(Buffer.from(akPublic, "base64")),
    attest,
    signature,
    qualifyingData: renewalQualifyingData(orgId, id, certificate.der, csr.der),
    keyPublic: () => {
      const sent = keyPublic === undefined ? undefined : parseDeviceKey(keyPublic);
      const key = sent ?? (stored && readPublicArea(stored));
      if (!key) throw invalid("a new key requires key_public");
      if (stored && !key.bytes.equals(stored))
        throw new CodedError(403, "attest_name", "key_public is not the retained key");
      return key;
    },
    csr,
  });
  return key.bytes.toString("base64");
}

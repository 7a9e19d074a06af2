/** Renewal of a device that was enrolled with a TPM: the AK of its enrolment vouches for the key (device-identity.md §1). */
import { readPublicArea } from "@signet/protocol/tpm/public-area";
import { renewalQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { CodedError } from "../../../http/coded-error.ts";
import type { CheckAttestedRenewal } from "../enroll/renewal-evidence.ts";
import { deviceKeyOf, requireAttestedKey } from "./attested-key.ts";

/** @throws CodedError as `requireAttestedKey`; 403 attest_name where `key_public` is not the key that is kept */
export const requireRenewalAttestation: CheckAttestedRenewal = (renewal) => {
  const { device, certificate, csr, attest, signature, keyPublic, storedKeyPublic } = renewal;
  if (device.akPublic === null) throw new Error("a device with a TPM that has no attestation key");
  const stored = storedKeyPublic === undefined ? undefined : Buffer.from(storedKeyPublic, "base64");
  const key = requireAttestedKey({
    ak: readPublicArea(Buffer.from(device.akPublic, "base64")),
    attest,
    signature,
    qualifyingData: renewalQualifyingData(device.orgId, device.id, certificate.der, csr.der),
    keyPublic: () => {
      const sent = keyPublic === undefined ? undefined : deviceKeyOf(keyPublic);
      const meant = sent ?? (stored && readPublicArea(stored));
      if (!meant) throw new CodedError(400, "invalid_request", "a new key needs key_public");
      if (stored && !meant.bytes.equals(stored))
        throw new CodedError(403, "attest_name", "key_public is not the key that is kept");
      return meant;
    },
    csr,
  });
  return key.bytes.toString("base64");
};

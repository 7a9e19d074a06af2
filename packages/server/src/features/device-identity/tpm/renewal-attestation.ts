/** Verifies the attestation of a renewal with the AK of the enrolment (device-identity.md §1). */
import { readPublicArea } from "@signet/protocol/tpm/public-area";
import { renewalQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { CodedError } from "../../../http/coded-error.ts";
import type { CheckAttestedRenewal } from "../enrol/renewal-evidence.ts";
import { parseDeviceKey, requireAttestedKey } from "./attested-key.ts";

/** @throws CodedError as `requireAttestedKey`; 403 attest_name when `key_public` is not the retained key */
export const requireRenewalAttestation: CheckAttestedRenewal = (renewal) => {
  const { device, certificate, csr, attest, signature, keyPublic, storedKeyPublic } = renewal;
  if (device.akPublic === null) throw new Error("a device with a TPM has no attestation key");
  const stored = storedKeyPublic === undefined ? undefined : Buffer.from(storedKeyPublic, "base64");
  const key = requireAttestedKey({
    ak: readPublicArea(Buffer.from(device.akPublic, "base64")),
    attest,
    signature,
    qualifyingData: renewalQualifyingData(device.orgId, device.id, certificate.der, csr.der),
    keyPublic: () => {
      const sent = keyPublic === undefined ? undefined : parseDeviceKey(keyPublic);
      const key = sent ?? (stored && readPublicArea(stored));
      if (!key) throw new CodedError(400, "invalid_request", "a new key requires key_public");
      if (stored && !key.bytes.equals(stored))
        throw new CodedError(403, "attest_name", "key_public is not the retained key");
      return key;
    },
    csr,
  });
  return key.bytes.toString("base64");
};

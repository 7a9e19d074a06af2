/** Verifies that the TPM attests the key of a CSR as its own (device-identity.md §1, §5). */
import type { Csr } from "@signet/protocol/csr/csr";
import { type Attest, isSignedBy, readAttest, readSignature } from "@signet/protocol/tpm/attest";
import { TpmError } from "@signet/protocol/tpm/buffer-reader";
import { isDeviceKey } from "@signet/protocol/tpm/key-requirements";
import { nameOf, type PublicArea, publicKeyOf } from "@signet/protocol/tpm/public-area";
import { CodedError } from "../../../http/coded-error.ts";
import { decodeBase64, parsePublicArea } from "./tpm-members.ts";

export interface AttestedKey {
  readonly ak: PublicArea;
  /** TPMS_ATTEST and TPMT_SIGNATURE: base64. */
  readonly attest: string;
  readonly signature: string;
  /** Must be in the attestation's extraData. */
  readonly qualifyingData: Buffer;
  /** Parsed in its turn. @throws CodedError 400, 403 */
  keyPublic(): PublicArea;
  readonly csr: Csr;
}

/**
 * In this order: the AK's signature, magic and type, extraData, name, attributes, and the key of the CSR.
 * @returns the key's public area
 * @throws CodedError 400 invalid_request; 403 attest_signature, attest_type, attest_nonce, attest_name, key_attributes,
 * csr_key_mismatch
 */
export function requireAttestedKey(evidence: AttestedKey): PublicArea {
  const attestBytes = decodeBase64(evidence.attest, "attest");
  requireSignature(evidence.ak, attestBytes, decodeBase64(evidence.signature, "signature"));
  const { extraData, name } = parseAttest(attestBytes);
  if (!extraData.equals(evidence.qualifyingData))
    throw new CodedError(403, "attest_nonce", "the attestation has other qualifying data");
  const key = evidence.keyPublic();
  if (!nameOf(key).equals(name))
    throw new CodedError(403, "attest_name", "the attestation is for another key than key_public");
  if (!isDeviceKey(key)) throw badAttributes();
  const spki = publicKeyOf(key).export({ format: "der", type: "spki" });
  if (!spki.equals(evidence.csr.spki))
    throw new CodedError(403, "csr_key_mismatch", "the certificate signing request is for another key");
  return key;
}

/** @param text TPM2B_PUBLIC, base64. @throws CodedError 400 invalid_request, 403 key_attributes */
export const parseDeviceKey = (text: string): PublicArea =>
  parsePublicArea(text, "key_public", badAttributes);

const badAttributes = () =>
  new CodedError(
    403,
    "key_attributes",
    "a device key must be fixedTPM, fixedParent, sensitiveDataOrigin and sign, and neither restricted nor decrypt",
  );

function requireSignature(ak: PublicArea, message: Buffer, signature: Buffer): void {
  const fault = signatureFault(ak, message, signature);
  if (fault !== undefined)
    throw new CodedError(403, "attest_signature", "the attestation is not signed by the attestation key", {
      cause: fault,
    });
}

function signatureFault(ak: PublicArea, message: Buffer, signature: Buffer): string | undefined {
  try {
    return isSignedBy(ak, message, readSignature(signature)) ? undefined : "the signature does not verify";
  } catch (error) {
    if (error instanceof TpmError) return error.message;
    throw error;
  }
}

function parseAttest(bytes: Buffer): Attest {
  try {
    return readAttest(bytes);
  } catch (error) {
    if (!(error instanceof TpmError)) throw error;
    throw new CodedError(403, "attest_type", "not an attestation of a key: use TPM2_Certify", {
      cause: error.message,
    });
  }
}

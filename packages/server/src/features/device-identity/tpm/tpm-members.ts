/** Parses the TPM structures of request bodies (base64), after the code or the challenge has been checked. */
import { readCertificate } from "@signet/protocol/certificates/certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import { TpmError } from "@signet/protocol/tpm/buffer-reader";
import {
  type EkCertificate,
  readEkCertificate,
  unwrapEkCertificate,
} from "@signet/protocol/tpm/ek-certificate";
import { hasAttestationAlgorithm, isAttestationKey } from "@signet/protocol/tpm/key-requirements";
import { type PublicArea, publicKeyOf, readSizedPublic } from "@signet/protocol/tpm/public-area";
import Type from "typebox";
import { CodedError } from "../../../http/coded-error.ts";
import type { PresentedEk } from "../ek-trust/trusted-ek.ts";
import type { EkPathText } from "./tpm.store.ts";

/** Without the EK certificate. */
export const MAX_CHAIN = 4;

export const base64 = (description: string) => Type.String({ description: `base64: ${description}` });

/** Canonical base64 only (RFC 4648 §4). @throws CodedError 400 invalid_request */
export function decodeBase64(text: string, member: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (text === "" || bytes.toString("base64") !== text) throw invalid(`${member} is not base64`);
  return bytes;
}

/** @throws CodedError 400 invalid_request, ek_malformed, unsupported_ek */
export function presentedEk({ certificate, chain }: EkPathText): PresentedEk {
  const stored = decodeBase64(certificate, "ek_certificate");
  const others = chain.map((text) => decodeBase64(text, "ek_chain"));
  const ek = parseEk(stored);
  return {
    ek,
    ekHash: sha256Base64url(ek.spki),
    others: others.map((bytes) =>
      readAs("ek_chain contains an invalid certificate", () => readCertificate(unwrapEkCertificate(bytes))),
    ),
  };
}

function parseEk(stored: Buffer): EkCertificate {
  return readAs("the endorsement key's certificate is malformed", () => {
    try {
      return readEkCertificate(stored);
    } catch (error) {
      if (!(error instanceof TpmError)) throw error;
      throw new CodedError(400, "unsupported_ek", "endorsement keys must be RSA-2048, P-256 or P-384", {
        cause: error.message,
      });
    }
  });
}

/** Our reader, OpenSSL and Node throw different errors for an invalid certificate. */
function readAs<Read>(description: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError(400, "ek_malformed", description, {
      cause: error instanceof Error ? error.message : "unreadable",
    });
  }
}

/** @param text TPM2B_PUBLIC. @throws CodedError 400 invalid_request, ak_attributes, ak_alg */
export function parseAttestationKey(text: string): PublicArea {
  const area = parsePublicArea(text, "ak_public", () => badAlgorithm("unsupported type"));
  if (!isAttestationKey(area))
    throw new CodedError(
      400,
      "ak_attributes",
      "an attestation key must be fixedTPM, fixedParent, sensitiveDataOrigin, restricted and sign, and not decrypt",
    );
  if (!hasAttestationAlgorithm(area)) throw badAlgorithm("no fixed scheme, or a weak one");
  return area;
}

function badAlgorithm(cause: string): CodedError {
  const description = "an attestation key must fix ECDSA, RSASSA or RSAPSS with SHA-256 or better";
  return new CodedError(400, "ak_alg", description, { cause: `AK: ${cause}` });
}

/** @param unsupported creates the error for an unsupported key type. @throws CodedError 400 */
export function parsePublicArea(text: string, member: string, unsupported: () => CodedError): PublicArea {
  const bytes = decodeBase64(text, member);
  try {
    const area = readSizedPublic(bytes);
    publicKeyOf(area);
    return area;
  } catch (error) {
    if (!(error instanceof TpmError)) throw error;
    throw error.fault === "unsupported"
      ? unsupported()
      : invalid(`${member} is not a TPM2B_PUBLIC`, error.message);
  }
}

const invalid = (description: string, cause?: string) =>
  new CodedError(400, "invalid_request", description, cause === undefined ? {} : { cause });

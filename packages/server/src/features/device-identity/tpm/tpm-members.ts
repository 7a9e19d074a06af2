/** What a TPM made, as it comes in the bodies: base64. It is read once the code, or the challenge, has been found good. */
import { readCertificate } from "@signet/protocol/certificates/certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import {
  type EkCertificate,
  readEkCertificate,
  unwrapEkCertificate,
} from "@signet/protocol/tpm/ek-certificate";
import { hasAttestationAlgorithm, isAttestationKey } from "@signet/protocol/tpm/key-requirements";
import { type PublicArea, publicKeyOf, readSizedPublic } from "@signet/protocol/tpm/public-area";
import { TpmError } from "@signet/protocol/tpm/tpm-error";
import Type from "typebox";
import { CodedError } from "../../../http/coded-error.ts";
import type { PresentedEk } from "../ek-trust/trusted-ek.ts";
import type { EkPathText } from "./tpm.store.ts";

/** Beside the EK's own. */
export const MOST_CHAIN = 4;

export const base64 = (description: string) => Type.String({ description: `base64: ${description}` });

/** One spelling (RFC 4648 §4). @throws CodedError 400 invalid_request */
export function bytesOf(text: string, member: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (text === "" || bytes.toString("base64") !== text) throw unreadable(`${member} is not base64`);
  return bytes;
}

/** @throws CodedError 400 invalid_request, ek_malformed, unsupported_ek */
export function presentedEk({ certificate, chain }: EkPathText): PresentedEk {
  const stored = bytesOf(certificate, "ek_certificate");
  const others = chain.map((text) => bytesOf(text, "ek_chain"));
  const ek = ekOf(stored);
  return {
    ek,
    ekHash: sha256Base64url(ek.spki),
    others: others.map((bytes) =>
      readAs("ek_chain has what is no certificate", () => readCertificate(unwrapEkCertificate(bytes))),
    ),
  };
}

function ekOf(stored: Buffer): EkCertificate {
  return readAs("the endorsement key's certificate cannot be read", () => {
    try {
      return readEkCertificate(stored);
    } catch (error) {
      if (!(error instanceof TpmError)) throw error;
      throw new CodedError(400, "unsupported_ek", "endorsement keys are RSA-2048, P-256 or P-384", {
        cause: error.message,
      });
    }
  });
}

/** Our reader, OpenSSL's and Node's each have errors of their own for what is no certificate. */
function readAs<Read>(description: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError(400, "ek_malformed", description, {
      cause: error instanceof Error ? error.message : "it cannot be read",
    });
  }
}

/** The attestation key, which must be one. @param text TPM2B_PUBLIC. @throws CodedError 400 invalid_request, ak_attributes, ak_alg */
export function attestationKeyOf(text: string): PublicArea {
  const area = publicAreaOf(text, "ak_public", () => badAlgorithm("of a kind that is not taken"));
  if (!isAttestationKey(area))
    throw new CodedError(
      400,
      "ak_attributes",
      "an attestation key is fixedTPM, fixedParent, sensitiveDataOrigin, restricted and sign, and not decrypt",
    );
  if (!hasAttestationAlgorithm(area)) throw badAlgorithm("no scheme is fixed, or a weak one");
  return area;
}

const badAlgorithm = (cause: string) =>
  new CodedError(400, "ak_alg", "an attestation key fixes ECDSA, RSASSA or RSAPSS with SHA-256 or better", {
    cause: `AK: ${cause}`,
  });

/** A public area that has a key in it. @param unsupported makes the refusal of another kind of key. @throws CodedError 400 */
export function publicAreaOf(text: string, member: string, unsupported: () => CodedError): PublicArea {
  const bytes = bytesOf(text, member);
  try {
    const area = readSizedPublic(bytes);
    publicKeyOf(area);
    return area;
  } catch (error) {
    if (!(error instanceof TpmError)) throw error;
    throw error.fault === "unsupported"
      ? unsupported()
      : unreadable(`${member} is not a TPM2B_PUBLIC`, error.message);
  }
}

const unreadable = (description: string, cause?: string) =>
  new CodedError(400, "invalid_request", description, cause === undefined ? {} : { cause });

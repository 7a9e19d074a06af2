/** Members shared by several device calls; parsed only after the caller is authenticated. */
import { type Csr, CsrError, readCsr } from "@signet/protocol/csr/csr";
import Type from "typebox";
import { CodedError } from "../../../http/coded-error.ts";
import { MAX_CODE_LENGTH } from "./enrolment-code.ts";

export const closed = { additionalProperties: false } as const;

export const codeMember = Type.String({
  maxLength: MAX_CODE_LENGTH,
  description: "the enrolment code, in upper or lower case, with or without dashes",
});

/** No maxLength: an oversized CSR has its own error code. */
export const csrMember = Type.String({
  description:
    "a certificate signing request (RFC 2986), PEM or base64 DER, at most 16 KiB: EC P-256 or P-384, RSA of 2048 to 4096 bits, Ed25519",
});

/** @throws CodedError 400 csr_… */
export function parseCsr(text: string): Csr {
  try {
    return readCsr(text);
  } catch (error) {
    if (!(error instanceof CsrError)) throw error;
    throw new CodedError(400, error.code, descriptions[error.code], { cause: error.message });
  }
}

const descriptions = {
  csr_malformed: "the certificate signing request is malformed: send strict DER as PEM or base64",
  csr_too_large: "the certificate signing request is longer than 16 KiB",
  csr_key_weak: "the key is too weak: RSA keys need at least 2048 bits and the exponent 65537",
  csr_key_unsupported:
    "supported keys: EC P-256 or P-384 (named curve, uncompressed), RSA up to 4096 bits, Ed25519",
  csr_signature: "the certificate signing request is not signed by its own key",
  csr_signature_alg: "the signature algorithm does not match the key, or does not use SHA-2",
} as const;

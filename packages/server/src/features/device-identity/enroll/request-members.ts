/** Members that the bodies of several device calls share. Their forms are looked at only once the caller is known. */
import { type Csr, CsrError, readCsr } from "@signet/protocol/csr/csr";
import Type from "typebox";
import { CodedError } from "../../../http/coded-error.ts";
import { LONGEST_CODE } from "./enrollment-code.ts";

export const closed = { additionalProperties: false } as const;

export const codeMember = Type.String({
  maxLength: LONGEST_CODE,
  description: "the enrollment code, in either case, with or without its dashes",
});

/** Its size has a code of its own: it is not the schema that tells it. */
export const csrMember = Type.String({
  description:
    "a certificate signing request (RFC 2986), PEM or base64 DER, 16 KiB at most: EC P-256 or P-384, RSA of 2048 to 4096 bits, Ed25519",
});

/** The same, with what is wrong as the answer of a call. @throws CodedError 400 csr_… */
export function csrOf(text: string): Csr {
  try {
    return readCsr(text);
  } catch (error) {
    if (!(error instanceof CsrError)) throw error;
    throw new CodedError(400, error.code, descriptions[error.code], { cause: error.message });
  }
}

const descriptions = {
  csr_malformed: "the certificate signing request cannot be read: strict DER, as PEM or base64, is taken",
  csr_too_large: "the certificate signing request is longer than 16 KiB",
  csr_key_weak: "the key is too weak: RSA keys have 2048 bits at least and the exponent 65537",
  csr_key_unsupported:
    "keys are EC P-256 or P-384 (named curve, uncompressed), RSA up to 4096 bits, or Ed25519",
  csr_signature: "the certificate signing request is not signed by its own key",
  csr_signature_alg: "the signature algorithm does not go with the key, or is none of SHA-2",
} as const;

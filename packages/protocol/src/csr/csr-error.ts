export type CsrErrorCode =
  | "csr_malformed"
  | "csr_too_large"
  | "csr_key_weak"
  | "csr_key_unsupported"
  | "csr_signature"
  | "csr_signature_alg";

/** Why a certificate signing request is refused (device-identity.md §1): its code is the answer's. */
export class CsrError extends Error {
  readonly code: CsrErrorCode;

  constructor(code: CsrErrorCode, message: string) {
    super(message);
    this.name = "CsrError";
    this.code = code;
  }
}

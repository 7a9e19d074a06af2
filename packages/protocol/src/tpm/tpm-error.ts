/** A malformed or unsupported TPM 2.0 structure. */
export type TpmFault = "malformed" | "unsupported";

export class TpmError extends Error {
  /** `unsupported`: well-formed as far as it was read, of an algorithm that is not accepted. */
  readonly fault: TpmFault;

  constructor(fault: TpmFault, message: string) {
    super(message);
    this.name = "TpmError";
    this.fault = fault;
  }
}

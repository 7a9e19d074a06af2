/** TPMS_ATTEST of TPM2_Certify and TPM2_CertifyCreation (TPM 2.0 Part 2 §10.12.12): a TPM's attestation of its own key. */
import { bufferReader, TpmError } from "./buffer-reader.ts";

/** TPM_GENERATED: a restricted key signs data that begins with it only if the TPM produced that data (TPM 2.0 Part 2 §6.2). */
export const TPM_GENERATED = 0xff54_4347;

export const attestTypes = { certify: 0x8017, quote: 0x8018, creation: 0x801a } as const;

export interface Attest {
  readonly type: "certify" | "creation";
  /** The caller's qualifying data. */
  readonly extraData: Buffer;
  /** Of the key that is vouched for: as `nameOf`. */
  readonly name: Buffer;
}

/** @param bytes TPMS_ATTEST without a size. @throws TpmError `unsupported` for a quote, a time, an audit … */
export function readAttest(bytes: Buffer): Attest {
  const reader = bufferReader(bytes);
  if (reader.u32() !== TPM_GENERATED) throw new TpmError("unsupported", "it was not made by a TPM");
  const number = reader.u16();
  if (number !== attestTypes.certify && number !== attestTypes.creation)
    throw new TpmError("unsupported", "it does not certify a key");
  reader.sized(); // qualifiedSigner: says where the AK is in its TPM, and the AK is known already
  const extraData = reader.sized();
  reader.u64(); // clock
  reader.u32(); // resetCount
  reader.u32(); // restartCount
  reader.u8(); // safe
  reader.u64(); // firmwareVersion
  const name = reader.sized();
  reader.sized(); // qualifiedName, or creationHash
  reader.end();
  return { type: number === attestTypes.certify ? "certify" : "creation", extraData, name };
}

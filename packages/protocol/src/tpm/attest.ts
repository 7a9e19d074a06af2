/** A TPM's attestation of its own key: TPMS_ATTEST and TPMT_SIGNATURE (TPM 2.0 Part 2 §10.12.12, §11.3.4). */

import { constants, verify } from "node:crypto";
import { curveSize, hashOfNumber, padded, type TpmHash, tpmAlg } from "./algorithms.ts";
import { bufferReader, TpmError } from "./buffer-reader.ts";
import { type PublicFields, publicKeyOf } from "./public-area.ts";

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

export type TpmSignature =
  | { readonly alg: typeof tpmAlg.ecdsa; readonly hash: TpmHash; readonly r: Buffer; readonly s: Buffer }
  | {
      readonly alg: typeof tpmAlg.rsaSsa | typeof tpmAlg.rsaPss;
      readonly hash: TpmHash;
      readonly value: Buffer;
    };

/** @param bytes TPMT_SIGNATURE, which has no size. @throws TpmError */
export function readSignature(bytes: Buffer): TpmSignature {
  const reader = bufferReader(bytes);
  const alg = reader.u16();
  if (alg !== tpmAlg.ecdsa && alg !== tpmAlg.rsaSsa && alg !== tpmAlg.rsaPss)
    throw new TpmError("unsupported", "a signature that is not ECDSA, RSASSA or RSAPSS");
  const hash = hashOfNumber(reader.u16());
  const signature: TpmSignature =
    alg === tpmAlg.ecdsa
      ? { alg, hash, r: reader.sized(), s: reader.sized() }
      : { alg, hash, value: reader.sized() };
  reader.end();
  return signature;
}

/** Only by the scheme that the key's public area fixes. @throws TpmError for an unreadable signature or key */
export function isSignedBy(signer: PublicFields, message: Buffer, signature: TpmSignature): boolean {
  const { scheme, key } = signer;
  if (scheme?.alg !== signature.alg || scheme.hash !== signature.hash) return false;
  const publicKey = publicKeyOf(signer);
  if (!("value" in signature)) {
    if (key.kind !== "ecc") return false;
    const size = curveSize(key.curve);
    const flat = Buffer.concat([padded(signature.r, size), padded(signature.s, size)]);
    return verify(signature.hash, message, { key: publicKey, dsaEncoding: "ieee-p1363" }, flat);
  }
  if (key.kind !== "rsa") return false;
  const padding =
    signature.alg === tpmAlg.rsaPss
      ? // TPMs differ: as long as the hash, or as long as fits (TPM 2.0 Part 1 §B.7).
        { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
      : { padding: constants.RSA_PKCS1_PADDING };
  return verify(signature.hash, message, { key: publicKey, ...padding }, signature.value);
}

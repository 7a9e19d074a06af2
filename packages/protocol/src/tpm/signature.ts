/** TPMT_SIGNATURE (TPM 2.0 Part 2 §11.3.4), normalised for node:crypto. */
import { constants, verify } from "node:crypto";
import { curveSize, hashOfNumber, padded, type TpmHash, tpmAlg } from "./algorithms.ts";
import { bufferReader, TpmError } from "./buffer-reader.ts";
import { type PublicFields, publicKeyOf } from "./public-area.ts";

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

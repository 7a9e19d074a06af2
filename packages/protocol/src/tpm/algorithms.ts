/** Supported algorithm identifiers (TPM 2.0 Part 2 §6.3). */
import { TpmError } from "./tpm-error.ts";

export const tpmAlg = {
  rsa: 0x0001,
  aes: 0x0006,
  null: 0x0010,
  rsaSsa: 0x0014,
  rsaEs: 0x0015,
  rsaPss: 0x0016,
  oaep: 0x0017,
  ecdsa: 0x0018,
  ecdh: 0x0019,
  ecdaa: 0x001a,
  ecc: 0x0023,
  cfb: 0x0043,
} as const;

/** By node:crypto's names. SHA-1 is not accepted. */
export type TpmHash = "sha256" | "sha384" | "sha512";

const hashNumbers: Readonly<Record<TpmHash, number>> = { sha256: 0x000b, sha384: 0x000c, sha512: 0x000d };
const hashSizes: Readonly<Record<TpmHash, number>> = { sha256: 32, sha384: 48, sha512: 64 };

export const hashNumber = (hash: TpmHash): number => hashNumbers[hash];
/** Bytes. */
export const hashSize = (hash: TpmHash): number => hashSizes[hash];

/** @throws TpmError `unsupported` for SHA-1 and whatever is not SHA-2 */
export function hashOfNumber(number: number): TpmHash {
  const hashes = Object.keys(hashNumbers) as TpmHash[];
  const found = hashes.find((hash) => hashNumbers[hash] === number);
  if (!found) throw new TpmError("unsupported", "a hash that is not SHA-256, SHA-384 or SHA-512");
  return found;
}

export type TpmCurve = "P-256" | "P-384";

const curveNumbers: Readonly<Record<TpmCurve, number>> = { "P-256": 0x0003, "P-384": 0x0004 };
const curveSizes: Readonly<Record<TpmCurve, number>> = { "P-256": 32, "P-384": 48 };

export const curveNumber = (curve: TpmCurve): number => curveNumbers[curve];
/** Bytes of a coordinate. */
export const curveSize = (curve: TpmCurve): number => curveSizes[curve];

/** @throws TpmError `unsupported` */
export function curveOfNumber(number: number): TpmCurve {
  const curves = Object.keys(curveNumbers) as TpmCurve[];
  const found = curves.find((curve) => curveNumbers[curve] === number);
  if (!found) throw new TpmError("unsupported", "a curve that is not P-256 or P-384");
  return found;
}

/** Left-padded: some TPMs leave leading zeros out. @throws TpmError when it is too long */
export function padded(number: Buffer, size: number): Buffer {
  if (number.length > size) throw new TpmError("malformed", "a number that is too long");
  return Buffer.concat([Buffer.alloc(size - number.length), number]);
}

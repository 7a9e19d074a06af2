/** Supported algorithm identifiers (TPM 2.0 Part 2 §6.3). */
import { TpmError } from "./buffer-reader.ts";

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

/** By node:crypto's names; sizes in bytes. SHA-1 is not accepted. */
const hashes = {
  sha256: { number: 0x000b, size: 32 },
  sha384: { number: 0x000c, size: 48 },
  sha512: { number: 0x000d, size: 64 },
} as const;
export type TpmHash = keyof typeof hashes;

export const hashNumber = (hash: TpmHash): number => hashes[hash].number;
export const hashSize = (hash: TpmHash): number => hashes[hash].size;
/** @throws TpmError `unsupported` for SHA-1 and whatever is not SHA-2 */
export const hashOfNumber = (number: number): TpmHash =>
  nameOfNumber(hashes, number, "a hash that is not SHA-256, SHA-384 or SHA-512");

/** Sizes of a coordinate in bytes. */
const curves = { "P-256": { number: 0x0003, size: 32 }, "P-384": { number: 0x0004, size: 48 } } as const;
export type TpmCurve = keyof typeof curves;

export const curveNumber = (curve: TpmCurve): number => curves[curve].number;
export const curveSize = (curve: TpmCurve): number => curves[curve].size;
/** @throws TpmError `unsupported` */
export const curveOfNumber = (number: number): TpmCurve =>
  nameOfNumber(curves, number, "a curve that is not P-256 or P-384");

function nameOfNumber<Name extends string>(
  table: Readonly<Record<Name, { readonly number: number }>>,
  number: number,
  fault: string,
): Name {
  const name = (Object.keys(table) as Name[]).find((one) => table[one].number === number);
  if (!name) throw new TpmError("unsupported", fault);
  return name;
}

/** Left-padded: some TPMs leave leading zeros out. @throws TpmError when it is too long */
export function padded(number: Buffer, size: number): Buffer {
  if (number.length > size) throw new TpmError("malformed", "a number that is too long");
  return Buffer.concat([Buffer.alloc(size - number.length), number]);
}

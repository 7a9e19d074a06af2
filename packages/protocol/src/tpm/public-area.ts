/** TPMT_PUBLIC: the public area of RSA and ECC keys (TPM 2.0 Part 2 §12.2.4). */
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import {
  curveNumber,
  curveOfNumber,
  curveSize,
  hashNumber,
  hashOfNumber,
  padded,
  type TpmCurve,
  type TpmHash,
  tpmAlg,
} from "./algorithms.ts";
import { type BufferReader, bufferReader, sized, TpmError, u16, u32, unsized } from "./buffer-reader.ts";

/** TPMA_OBJECT (TPM 2.0 Part 2 §8.3). */
export const keyAttributes = {
  fixedTpm: 0x0000_0002,
  stClear: 0x0000_0004,
  fixedParent: 0x0000_0010,
  sensitiveDataOrigin: 0x0000_0020,
  userWithAuth: 0x0000_0040,
  adminWithPolicy: 0x0000_0080,
  noDa: 0x0000_0400,
  encryptedDuplication: 0x0000_0800,
  restricted: 0x0001_0000,
  decrypt: 0x0002_0000,
  sign: 0x0004_0000,
} as const;

export interface RsaPublic {
  readonly kind: "rsa";
  readonly bits: number;
  /** 0 stands for 65537. */
  readonly exponent: number;
  readonly modulus: Buffer;
}

export interface EccPublic {
  readonly kind: "ecc";
  readonly curve: TpmCurve;
  readonly x: Buffer;
  readonly y: Buffer;
}

/** A number of `tpmAlg`, and the hash where it has one. */
export interface TpmScheme {
  readonly alg: number;
  readonly hash: TpmHash | undefined;
}

export interface PublicFields {
  readonly nameAlg: TpmHash;
  /** Bits of `keyAttributes`. */
  readonly attributes: number;
  readonly authPolicy: Buffer;
  /** AES-CFB of that many bits, which a storage key needs. */
  readonly symmetricBits: number | undefined;
  readonly scheme: TpmScheme | undefined;
  readonly key: RsaPublic | EccPublic;
}

export interface PublicArea extends PublicFields {
  /** TPMT_PUBLIC as received, without the TPM2B size: the input of the name. */
  readonly bytes: Buffer;
}

/** @param tpmt TPMT_PUBLIC without a size. @throws TpmError */
export function readPublicArea(tpmt: Buffer): PublicArea {
  const reader = bufferReader(tpmt);
  const type = reader.u16();
  if (type !== tpmAlg.rsa && type !== tpmAlg.ecc)
    throw new TpmError("unsupported", "a key that is neither RSA nor ECC");
  const nameAlg = hashOfNumber(reader.u16());
  const attributes = reader.u32();
  const authPolicy = reader.sized();
  const symmetricBits = readSymmetric(reader);
  const scheme = readScheme(reader);
  const key = type === tpmAlg.rsa ? readRsa(reader) : readEcc(reader);
  reader.end();
  return { nameAlg, attributes, authPolicy, symmetricBits, scheme, key, bytes: tpmt };
}

/** @param tpm2b TPM2B_PUBLIC, as it goes over the wire. @throws TpmError */
export const readSizedPublic = (tpm2b: Buffer): PublicArea => readPublicArea(unsized(tpm2b));

function readSymmetric(reader: BufferReader): number | undefined {
  const alg = reader.u16();
  if (alg === tpmAlg.null) return undefined;
  if (alg !== tpmAlg.aes) throw new TpmError("unsupported", "a cipher that is not AES");
  const bits = reader.u16();
  if (reader.u16() !== tpmAlg.cfb) throw new TpmError("unsupported", "a mode that is not CFB");
  return bits;
}

const HASHED_SCHEMES: ReadonlySet<number> = new Set([
  tpmAlg.rsaSsa,
  tpmAlg.rsaPss,
  tpmAlg.oaep,
  tpmAlg.ecdsa,
  tpmAlg.ecdh,
]);

function readScheme(reader: BufferReader): TpmScheme | undefined {
  const alg = reader.u16();
  if (alg === tpmAlg.null) return undefined;
  if (alg === tpmAlg.rsaEs) return { alg, hash: undefined };
  if (!HASHED_SCHEMES.has(alg)) throw new TpmError("unsupported", "a scheme that is not supported");
  return { alg, hash: hashOfNumber(reader.u16()) };
}

function readRsa(reader: BufferReader): RsaPublic {
  return { kind: "rsa", bits: reader.u16(), exponent: reader.u32(), modulus: reader.sized() };
}

function readEcc(reader: BufferReader): EccPublic {
  const curve = curveOfNumber(reader.u16());
  // A key derivation of its own has no use in a signing key, nor in an EK of the TCG's templates.
  if (reader.u16() !== tpmAlg.null) throw new TpmError("unsupported", "a key derivation of its own");
  return { kind: "ecc", curve, x: reader.sized(), y: reader.sized() };
}

/** TPMT_PUBLIC without a size. With empty numbers it is a template for TPM2_Create. */
export function writePublicArea(fields: PublicFields): Buffer {
  const { key, nameAlg, attributes, authPolicy, symmetricBits, scheme } = fields;
  const symmetric = symmetricBits === undefined ? [tpmAlg.null] : [tpmAlg.aes, symmetricBits, tpmAlg.cfb];
  const schemeNumbers = scheme
    ? [scheme.alg, ...(scheme.hash ? [hashNumber(scheme.hash)] : [])]
    : [tpmAlg.null];
  return Buffer.concat([
    u16(key.kind === "rsa" ? tpmAlg.rsa : tpmAlg.ecc),
    u16(hashNumber(nameAlg)),
    u32(attributes),
    sized(authPolicy),
    ...[...symmetric, ...schemeNumbers].map(u16),
    ...(key.kind === "rsa"
      ? [u16(key.bits), u32(key.exponent), sized(key.modulus)]
      : [u16(curveNumber(key.curve)), u16(tpmAlg.null), sized(key.x), sized(key.y)]),
  ]);
}

/** nameAlg ‖ H(TPMT_PUBLIC) (TPM 2.0 Part 1 §16): the TPM's own fingerprint of a key. */
export function nameOf({ nameAlg, bytes }: Pick<PublicArea, "nameAlg" | "bytes">): Buffer {
  return Buffer.concat([u16(hashNumber(nameAlg)), createHash(nameAlg).update(bytes).digest()]);
}

/** @throws TpmError `malformed` for what is no key: a point off the curve, a modulus of another size */
export function publicKeyOf({ key }: PublicFields): KeyObject {
  try {
    return createPublicKey({ format: "jwk", key: key.kind === "rsa" ? rsaJwk(key) : eccJwk(key) });
  } catch (error) {
    if (error instanceof TpmError) throw error;
    throw new TpmError("malformed", "the public area has no usable key");
  }
}

function rsaJwk({ bits, exponent, modulus }: RsaPublic): { kty: "RSA"; n: string; e: string } {
  const isFull =
    modulus.length * 8 === bits && (modulus[0] ?? 0) >= 0x80 && ((modulus.at(-1) ?? 0) & 1) === 1;
  if (!isFull) throw new TpmError("malformed", "an RSA modulus of another size than it says");
  if (exponent !== 0 && exponent !== 65_537)
    throw new TpmError("unsupported", "an RSA exponent that is not 65537");
  return { kty: "RSA", n: modulus.toString("base64url"), e: "AQAB" };
}

function eccJwk({ curve, x, y }: EccPublic): { kty: "EC"; crv: TpmCurve; x: string; y: string } {
  const [left, right] = [x, y].map((number) => padded(number, curveSize(curve)).toString("base64url"));
  return { kty: "EC", crv: curve, x: left ?? "", y: right ?? "" };
}

/** The keys that a device may have (device-identity.md §2): which, and in the one spelling each has. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type DerElement, derTags, expectTag, partsOf, readDer, wholeBytesOf } from "../der/der.ts";
import { type DeviceKeyKind, deviceKeyAlgorithms } from "./csr-algorithms.ts";
import { CsrError } from "./csr-error.ts";

export interface CsrKey {
  readonly kind: DeviceKeyKind;
  readonly publicKey: KeyObject;
}

const UNCOMPRESSED = 0x04;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;
/** 65537, as an INTEGER's content. */
const RSA_EXPONENT = Buffer.from("010001", "hex");

/** @param spki a SubjectPublicKeyInfo. @throws CsrError for a key that is not taken, or is too weak. @throws Error for none */
export function readCsrKey(spki: DerElement<Buffer>): CsrKey {
  const [identifier, bits] = partsOf(spki, 2, "a key");
  const { raw } = expectTag(identifier, derTags.sequence);
  const known = deviceKeyAlgorithms.find((algorithm) => algorithm.identifier.equals(raw));
  if (!known) throw unsupported("the key is of a kind that is not taken");
  const key = wholeBytesOf(expectTag(bits, derTags.bitString));
  if (known.kind === "rsa") requireStrongRsa(key);
  else if (known.kind === "ed25519") requireLargeOrder(key);
  else if (key[0] !== UNCOMPRESSED || key.length !== known.pointBytes)
    throw unsupported("the point of the key is not written out in full");
  return { kind: known.kind, publicKey: oneSpelling(spki.raw) };
}

/** RFC 8017 §A.1.1. */
function requireStrongRsa(key: Buffer): void {
  const [modulus, exponent] = partsOf(readDer(key, derTags.sequence), 2, "a key");
  const bits = bitLength(expectTag(modulus, derTags.integer));
  if (bits < MIN_RSA_BITS) throw weak(`an RSA key of ${bits} bits is too short`);
  if (bits > MAX_RSA_BITS) throw unsupported(`an RSA key of ${bits} bits is too long`);
  if (!expectTag(exponent, derTags.integer).content.equals(RSA_EXPONENT))
    throw weak("the exponent of the RSA key is not 65537");
}

function bitLength({ content }: DerElement<Buffer>): number {
  const start = content.findIndex((byte) => byte !== 0);
  const first = content[start];
  return first === undefined ? 0 : (content.length - start) * 8 - Math.clz32(first) + 24;
}

/**
 * The y of every point whose order divides 8, little-endian, and the ways to write it modulo p (RFC 8032 §5.1.3 refuses
 * those, OpenSSL does not). Under such a key anybody can sign anything: whoever presents its certificate would be the device.
 */
const smallOrders: readonly Buffer[] = [
  `00${"00".repeat(31)}`,
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
].map((hex) => Buffer.from(hex, "hex"));

function requireLargeOrder(key: Buffer): void {
  const y = Buffer.from(key);
  // The last bit is the sign of x.
  y.writeUInt8((y.at(-1) ?? 0) & 0x7f, y.length - 1);
  if (smallOrders.some((point) => point.equals(y))) throw weak("the key's point has a small order");
}

/** By way of a JWK, which has but the numbers: a second spelling of a key would be a second key to us. */
function oneSpelling(spki: Buffer): KeyObject {
  const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
  const again = createPublicKey({ key: publicKey.export({ format: "jwk" }), format: "jwk" });
  if (!again.export({ format: "der", type: "spki" }).equals(spki))
    throw unsupported("the key is written in another way than it should be");
  return publicKey;
}

const weak = (message: string) => new CsrError("csr_key_weak", message);
const unsupported = (message: string) => new CsrError("csr_key_unsupported", message);

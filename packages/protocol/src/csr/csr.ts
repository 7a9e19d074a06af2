/**
 * Reads a certificate signing request (PKCS #10, RFC 2986; device-identity.md §2): strict DER, few kinds of keys, and the proof
 * that the sender has the private one. Subject, attributes and requested extensions are ignored.
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import {
  type DerElement,
  DerError,
  derTags,
  expectTag,
  partsOf,
  readDer,
  requireDerThroughout,
  smallInteger,
  wholeBytesOf,
} from "../der/der.ts";
import { sha256Base64url } from "../hash.ts";
import {
  type CsrSignatureAlgorithm,
  csrSignatureAlgorithms,
  type DeviceKeyKind,
  deviceKeyAlgorithms,
} from "./csr-algorithms.ts";

export type CsrErrorCode =
  | "csr_malformed"
  | "csr_too_large"
  | "csr_key_weak"
  | "csr_key_unsupported"
  | "csr_signature"
  | "csr_signature_alg";

/** Why a certificate signing request is refused (device-identity.md §1): its code is the answer's. */
export class CsrError extends Error {
  override readonly name = "CsrError";
  readonly code: CsrErrorCode;

  constructor(code: CsrErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Csr {
  readonly der: Buffer;
  /** SubjectPublicKeyInfo, in the one spelling that the key has. */
  readonly spki: Buffer;
  readonly publicKey: KeyObject;
  /** SHA-256 of the SPKI, base64url. */
  readonly keyHash: string;
}

/** Characters: the request of an RSA key of 4096 bits has under 2,500. */
export const MAX_CSR_LENGTH = 16 * 1024;
const VERSION_1 = 0;
const TAGGED_ATTRIBUTES = 0xa0;

/** @param text PEM or base64 DER, no more than 16 KiB of it. @throws CsrError and nothing else */
export function readCsr(text: string): Csr {
  if (text.length > MAX_CSR_LENGTH) throw new CsrError("csr_too_large", "the request is longer than 16 KiB");
  const der = bytesOf(text);
  try {
    return readRequest(der);
  } catch (error) {
    if (error instanceof CsrError) throw error;
    // What our reader or OpenSSL's stumbled over: a point that is not on its curve, for one.
    throw new CsrError("csr_malformed", `not a certificate signing request: ${reasonOf(error)}`);
  }
}

/** RFC 7468 §7: its label, and the one that older programs write. */
const PEM = /^-----BEGIN ((?:NEW )?CERTIFICATE REQUEST)-----([^-]*)-----END \1-----$/;

function bytesOf(text: string): Buffer {
  const trimmed = text.trim();
  const base64 = (PEM.exec(trimmed)?.[2] ?? trimmed).replace(/\s+/g, "");
  const der = Buffer.from(base64, "base64");
  // One spelling: Node's decoder reads over what is not of the alphabet.
  if (der.length === 0 || der.toString("base64") !== base64)
    throw new CsrError("csr_malformed", "the request is neither PEM nor base64");
  return der;
}

function readRequest(der: Buffer): Csr {
  const request = readDer(der, derTags.sequence);
  requireDerThroughout(request);
  const [info, algorithm, signature] = partsOf(request, 3, "a request");
  const signed = expectTag(info, derTags.sequence);
  const spki = keyOf(signed);
  const { kind, publicKey } = readCsrKey(spki);
  const named = signatureAlgorithm(expectTag(algorithm, derTags.sequence), kind);
  const bytes = wholeBytesOf(expectTag(signature, derTags.bitString));
  if (!isSigned(named, signed.raw, publicKey, bytes))
    throw new CsrError("csr_signature", "the request is not signed by its own key");
  return { der, spki: spki.raw, publicKey, keyHash: sha256Base64url(spki.raw) };
}

/** RFC 2986 §4.1. */
function keyOf(info: DerElement<Buffer>): DerElement<Buffer> {
  const [version, subject, key, attributes] = partsOf(info, 4, "a request's parts");
  if (smallInteger(expectTag(version, derTags.integer)) !== VERSION_1)
    throw new DerError("not a request of version 1");
  expectTag(subject, derTags.sequence);
  expectTag(attributes, TAGGED_ATTRIBUTES);
  return expectTag(key, derTags.sequence);
}

function signatureAlgorithm({ raw }: DerElement<Buffer>, kind: DeviceKeyKind): CsrSignatureAlgorithm {
  const found = Object.values(csrSignatureAlgorithms).find(({ identifier }) => identifier.equals(raw));
  if (found?.kind === kind) return found;
  throw new CsrError("csr_signature_alg", "the request is signed in a way that is not taken of its key");
}

/** Proof of possession (RFC 2986 §4.2). */
function isSigned(
  { digest }: CsrSignatureAlgorithm,
  bytes: Buffer,
  publicKey: KeyObject,
  signature: Buffer,
): boolean {
  try {
    return verify(digest, bytes, publicKey, signature);
  } catch {
    // OpenSSL throws on some signatures that are none.
    return false;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : "it cannot be read");

const UNCOMPRESSED = 0x04;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;
/** 65537, as an INTEGER's content. */
const RSA_EXPONENT = Buffer.from("010001", "hex");

/** @param spki a SubjectPublicKeyInfo. @throws CsrError for a key that is not taken, or is too weak. @throws Error for none */
function readCsrKey(spki: DerElement<Buffer>) {
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
 * The y of every point whose order divides 8, little-endian, in all encodings modulo p (RFC 8032 §5.1.3 rejects them, OpenSSL
 * does not). Under such a key anybody can sign anything: whoever presents its certificate would be the device.
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

/**
 * Reads a certificate signing request (PKCS #10, RFC 2986) as device-identity.md §2 wants it: strict DER, a few kinds of keys,
 * and the proof that the sender has the private one. Subject, attributes and requested extensions are read over.
 */
import { type KeyObject, verify } from "node:crypto";
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
import { type CsrSignatureAlgorithm, csrSignatureAlgorithms, type DeviceKeyKind } from "./csr-algorithms.ts";
import { CsrError } from "./csr-error.ts";
import { readCsrKey } from "./csr-key.ts";

export { CsrError, type CsrErrorCode } from "./csr-error.ts";

export interface Csr {
  readonly der: Buffer;
  /** SubjectPublicKeyInfo, in the one spelling that the key has. */
  readonly spki: Buffer;
  readonly publicKey: KeyObject;
  /** SHA-256 of the SPKI, base64url. */
  readonly keyHash: string;
}

/** Characters: the request of an RSA key of 4096 bits has under 2,500. */
export const LONGEST_CSR = 16 * 1024;
const VERSION_1 = 0;
const TAGGED_ATTRIBUTES = 0xa0;

/** @param text PEM or base64 DER, no more than 16 KiB of it. @throws CsrError and nothing else */
export function readCsr(text: string): Csr {
  if (text.length > LONGEST_CSR) throw new CsrError("csr_too_large", "the request is longer than 16 KiB");
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

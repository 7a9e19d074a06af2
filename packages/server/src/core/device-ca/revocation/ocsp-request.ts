/** Reads an OCSP request (RFC 6960 §4.1): strict DER, bounded. A signature is ignored. */
import {
  booleanOf,
  childrenOf,
  type DerElement,
  DerError,
  derTags,
  expectTag,
  oidOf,
  readDer,
  smallInteger,
} from "@signet/protocol/der/der";
import { derNull } from "@signet/protocol/der/der-writer";
import { oid, tags } from "../x509.ts";

export interface CertificateId {
  /** Echoed in the response. */
  readonly raw: Buffer;
  /** The node:crypto name; undefined for an unknown algorithm. */
  readonly hash: string | undefined;
  readonly issuerNameHash: Buffer;
  readonly issuerKeyHash: Buffer;
  /** Hexadecimal, 32 digits; undefined for a number that no CA of ours issued. */
  readonly serial: string | undefined;
}

export interface OcspRequest {
  readonly ids: readonly CertificateId[];
  /** The whole extension, echoed in the response. */
  readonly nonce: Buffer | undefined;
}

export const MAX_REQUEST_BYTES = 8 * 1024;
export const MAX_IDS = 16;
/** RFC 9654 §2.1. */
const MAX_NONCE_BYTES = 128;
const SERIAL_BYTES = 16;

const contentOf = (dotted: string): string => oid(dotted).subarray(2).toString("hex");
const NONCE = contentOf("1.3.6.1.5.5.7.48.1.2");
const hashNames: Readonly<Record<string, string>> = {
  [contentOf("1.3.14.3.2.26")]: "sha1",
  [contentOf("2.16.840.1.101.3.4.2.1")]: "sha256",
  [contentOf("2.16.840.1.101.3.4.2.2")]: "sha384",
  [contentOf("2.16.840.1.101.3.4.2.3")]: "sha512",
};

/** @throws DerError for a malformed request, and above the limits */
export function readOcspRequest(bytes: Buffer): OcspRequest {
  if (bytes.length > MAX_REQUEST_BYTES) throw new DerError("the request is too large");
  const [request, signature, ...others] = childrenOf(readDer(bytes, derTags.sequence));
  if (signature) expectTag(signature, tags.constructed);
  if (others.length > 0) throw new DerError("the request has too many parts");
  const parts = childrenOf(expectTag(request, derTags.sequence));
  requireVersion1(optional(parts, tags.constructed));
  // The name of the requestor.
  optional(parts, tags.constructed + 1);
  const ids = childrenOf(expectTag(parts.shift(), derTags.sequence)).map(readId);
  if (ids.length < 1 || ids.length > MAX_IDS) throw new DerError(`not 1 to ${MAX_IDS} certificates`);
  const extensions = optional(parts, tags.constructed + 2);
  if (parts.length > 0) throw new DerError("the request has too many parts");
  return { ids, nonce: extensions && readExtensions(extensions).get(NONCE) };
}

/** Removes and returns the first part if it has the tag. */
const optional = (parts: DerElement<Buffer>[], tag: number): DerElement<Buffer> | undefined =>
  parts[0]?.tag === tag ? parts.shift() : undefined;

/** The content of `[n] EXPLICIT`. */
function onlyChild(element: DerElement<Buffer>, tag: number): DerElement<Buffer> {
  const [inside, ...others] = childrenOf(element);
  if (others.length > 0) throw new DerError("more than one value in an explicit tag");
  return expectTag(inside, tag);
}

function requireVersion1(version: DerElement<Buffer> | undefined): void {
  if (version && smallInteger(onlyChild(version, derTags.integer)) !== 0)
    throw new DerError("unsupported OCSP version");
}

function readId(request: DerElement<Buffer>): CertificateId {
  const [id, extensions, ...others] = childrenOf(expectTag(request, derTags.sequence));
  if (others.length > 0) throw new DerError("a CertID has too many parts");
  if (extensions) readExtensions(expectTag(extensions, tags.constructed));
  const whole = expectTag(id, derTags.sequence);
  const [algorithm, name, key, serial, ...rest] = childrenOf(whole);
  if (rest.length > 0) throw new DerError("a CertID has too many parts");
  const [hash, parameters, ...more] = childrenOf(expectTag(algorithm, derTags.sequence));
  if (more.length > 0 || (parameters && !parameters.raw.equals(derNull)))
    throw new DerError("a hash algorithm has parameters");
  return {
    raw: whole.raw,
    hash: hashNames[oidOf(expectTag(hash, derTags.oid))],
    issuerNameHash: expectTag(name, derTags.octetString).content,
    issuerKeyHash: expectTag(key, derTags.octetString).content,
    serial: readSerial(expectTag(serial, derTags.integer).content),
  };
}

/** Minimal encoding only (X.690 §8.3.2); negative and longer numbers are never issued. */
function readSerial(content: Buffer): string | undefined {
  const [first = 0x80, second = 0x80] = content;
  const digits = first === 0 && content.length > 1 ? content.subarray(1) : content;
  const isOurs = first < 0x80 && digits.length <= SERIAL_BYTES && !(first === 0 && second < 0x80);
  return isOurs ? digits.toString("hex").padStart(2 * SERIAL_BYTES, "0") : undefined;
}

/** By OID. Unknown critical extensions are refused (RFC 6960 §4.4). */
function readExtensions(around: DerElement<Buffer>): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const extension of childrenOf(onlyChild(around, derTags.sequence))) {
    const parts = childrenOf(expectTag(extension, derTags.sequence));
    const name = oidOf(expectTag(parts.shift(), derTags.oid));
    const critical = optional(parts, derTags.boolean);
    const value = expectTag(parts.shift(), derTags.octetString);
    if (parts.length > 0 || found.has(name))
      throw new DerError("an extension has too many parts or is repeated");
    if (name === NONCE) requireNonce(value);
    else if (critical && booleanOf(critical)) throw new DerError("an unknown critical extension");
    found.set(name, extension.raw);
  }
  return found;
}

function requireNonce({ content }: DerElement<Buffer>): void {
  const { length } = readDer(content, derTags.octetString).content;
  if (length < 1 || length > MAX_NONCE_BYTES) throw new DerError(`the nonce has ${length} bytes`);
}

/** What a certificate path is judged by (RFC 5280 §4.1 and §4.2). Signatures and keys are left to node:crypto. */
import { X509Certificate } from "node:crypto";
import {
  bitsOf,
  booleanOf,
  childrenOf,
  type DerElement,
  DerError,
  derTags,
  expectTag,
  oidOf,
  readDer,
  smallInteger,
} from "./der.ts";

export interface Certificate {
  readonly x509: X509Certificate;
  readonly der: Buffer;
  /** The names as DER: compared byte by byte. */
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** OID of the signature's algorithm, as hexadecimal text. */
  readonly signatureAlgorithm: string;
  readonly isCa: boolean;
  readonly pathLength: number | undefined;
  /** Undefined without the extension. */
  readonly keyUsage: ReadonlySet<number> | undefined;
  readonly subjectUris: readonly string[];
  /** OIDs as hexadecimal text; undefined without the extension. */
  readonly extendedKeyUsage: ReadonlySet<string> | undefined;
  readonly hasNameConstraints: boolean;
  /** OIDs of critical extensions that a path is not judged by, unless whoever asks knows them: as hexadecimal text. */
  readonly otherCritical: readonly string[];
}

/** Bits of the extension keyUsage (RFC 5280 §4.2.1.3). */
export const keyUsageBits = {
  digitalSignature: 0,
  keyEncipherment: 2,
  keyAgreement: 4,
  keyCertSign: 5,
} as const;

const extensionOids = {
  keyUsage: "551d0f",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
  nameConstraints: "551d1e",
} as const;

/** In them nothing is asked of a path, so that not everybody needs to know them. */
export const optionalExtensionOids = { certificatePolicies: "551d20", extendedKeyUsage: "551d25" } as const;

const MOST_BYTES = 16 * 1024;
const VERSION_3 = 2;
const TAGGED_VERSION = 0xa0;
const TAGGED_EXTENSIONS = 0xa3;
const URI_NAME = 0x86;

/** @throws Error for what is no certificate of version 3, or has an extension twice */
export function readCertificate(der: Buffer): Certificate {
  if (der.length > MOST_BYTES) throw new DerError("the certificate is too large");
  const [body, outerAlgorithm] = childrenOf(readDer(der, derTags.sequence));
  const [version, , algorithm, issuer, , subject, , ...rest] = childrenOf(expectTag(body, derTags.sequence));
  const [number] = childrenOf(expectTag(version, TAGGED_VERSION));
  if (smallInteger(expectTag(number, derTags.integer)) !== VERSION_3)
    throw new DerError("not a certificate of version 3");
  const inner = expectTag(algorithm, derTags.sequence);
  // What is signed says how it is signed (RFC 5280 §4.1.1.2).
  if (!expectTag(outerAlgorithm, derTags.sequence).raw.equals(inner.raw))
    throw new DerError("the two signature algorithms differ");
  const extensions = extensionsOf(rest.find(({ tag }) => tag === TAGGED_EXTENSIONS));
  return {
    x509: new X509Certificate(der),
    der,
    issuer: expectTag(issuer, derTags.sequence).raw,
    subject: expectTag(subject, derTags.sequence).raw,
    signatureAlgorithm: oidOf(expectTag(childrenOf(inner)[0], derTags.oid)),
    ...basicConstraintsOf(extensions.get(extensionOids.basicConstraints)),
    keyUsage: keyUsageOf(extensions.get(extensionOids.keyUsage)),
    subjectUris: urisOf(extensions.get(extensionOids.subjectAltName)),
    extendedKeyUsage: oidsOf(extensions.get(optionalExtensionOids.extendedKeyUsage)),
    hasNameConstraints: extensions.has(extensionOids.nameConstraints),
    otherCritical: [...extensions].flatMap(([oid, { isCritical }]) =>
      isCritical && !isKnown(oid) ? [oid] : [],
    ),
  };
}

const isKnown = (oid: string): boolean => Object.values(extensionOids).some((known) => known === oid);

interface Extension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** By OID. */
function extensionsOf(tagged: DerElement | undefined): Map<string, Extension> {
  const extensions = new Map<string, Extension>();
  if (!tagged) return extensions;
  const [list] = childrenOf(tagged);
  for (const entry of childrenOf(expectTag(list, derTags.sequence))) {
    const [oid, ...rest] = childrenOf(expectTag(entry, derTags.sequence));
    const name = oidOf(expectTag(oid, derTags.oid));
    // RFC 5280 §4.2: readers that take the first, or the last, would not agree.
    if (extensions.has(name)) throw new DerError("an extension is there twice");
    const critical = rest.length === 2 ? expectTag(rest[0], derTags.boolean) : undefined;
    const value = expectTag(rest[critical ? 1 : 0], derTags.octetString).content;
    extensions.set(name, { isCritical: critical !== undefined && booleanOf(critical), value });
  }
  return extensions;
}

function basicConstraintsOf(extension: Extension | undefined): Pick<Certificate, "isCa" | "pathLength"> {
  if (!extension) return { isCa: false, pathLength: undefined };
  const parts = childrenOf(readDer(extension.value, derTags.sequence));
  const ca = parts.find(({ tag }) => tag === derTags.boolean);
  const length = parts.find(({ tag }) => tag === derTags.integer);
  return {
    isCa: ca !== undefined && booleanOf(ca),
    pathLength: length && smallInteger(length),
  };
}

const keyUsageOf = (extension: Extension | undefined): ReadonlySet<number> | undefined =>
  extension && bitsOf(readDer(extension.value, derTags.bitString));

function urisOf(extension: Extension | undefined): string[] {
  if (!extension) return [];
  return childrenOf(readDer(extension.value, derTags.sequence)).flatMap(({ tag, content }) =>
    tag === URI_NAME ? [content.toString("latin1")] : [],
  );
}

function oidsOf(extension: Extension | undefined): ReadonlySet<string> | undefined {
  if (!extension) return undefined;
  const oids = childrenOf(readDer(extension.value, derTags.sequence));
  return new Set(oids.map((oid) => oidOf(expectTag(oid, derTags.oid))));
}

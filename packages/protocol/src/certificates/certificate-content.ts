/** Parses certificates (RFC 5280 §4.1 and §4.2). Platform-independent; verifies no signature. */

import {
  areSameBytes,
  bitsOf,
  booleanOf,
  childrenOf,
  type DerElement,
  DerError,
  derTags,
  expectTag,
  oidOf,
  onlyChild,
  partsOf,
  readDer,
  requireDerThroughout,
  smallInteger,
} from "../der/der.ts";
import { requireName } from "./certificate-name.ts";

export interface CertificateContent<Bytes extends Uint8Array = Uint8Array> {
  readonly der: Bytes;
  /** The signed part (TBSCertificate). */
  readonly signed: Bytes;
  /** AlgorithmIdentifier. */
  readonly signatureAlgorithm: DerElement<Bytes>;
  /** BIT STRING. */
  readonly signature: DerElement<Bytes>;
  /** Content of an INTEGER. */
  readonly serial: Bytes;
  /** The names as DER, compared byte for byte. */
  readonly issuer: Bytes;
  readonly subject: Bytes;
  /** Milliseconds, both inclusive. */
  readonly validFrom: number;
  readonly validTo: number;
  /** SubjectPublicKeyInfo. */
  readonly keyInfo: DerElement<Bytes>;
  readonly isCa: boolean;
  readonly pathLength: number | undefined;
  /** Undefined without the extension. */
  readonly keyUsage: ReadonlySet<number> | undefined;
  readonly subjectUris: readonly string[];
  readonly subjectNames: SubjectNames<Bytes>;
  /** OIDs as hexadecimal text; undefined without the extension. */
  readonly extendedKeyUsage: ReadonlySet<string> | undefined;
  readonly subjectKeyId: Bytes | undefined;
  readonly issuerKey: IssuerKey<Bytes>;
  readonly hasNameConstraints: boolean;
  /** OIDs of critical extensions that path validation doesn't process, in hexadecimal. */
  readonly otherCritical: readonly string[];
}

/** The other subject alternative names that clients are matched by (RFC 5280 §4.2.1.6). */
export interface SubjectNames<Bytes extends Uint8Array = Uint8Array> {
  readonly hosts: readonly string[];
  readonly emails: readonly string[];
  /** 4 or 16 bytes. */
  readonly addresses: readonly Bytes[];
}

/** The authorityKeyIdentifier extension (RFC 5280 §4.2.1.1); every member is optional. */
export interface IssuerKey<Bytes extends Uint8Array = Uint8Array> {
  readonly keyId?: Bytes | undefined;
  /** Issuer name and serial number of the issuer's certificate. */
  readonly issuer?: Bytes | undefined;
  readonly serial?: Bytes | undefined;
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

/** Never critical (RFC 5280 §4.2.1.1, §4.2.1.2). */
const keyIdentifierOids = { subject: "551d0e", authority: "551d23" } as const;

/** They don't constrain a path, so a validator may ignore them. */
export const optionalExtensionOids = { certificatePolicies: "551d20", extendedKeyUsage: "551d25" } as const;

const MAX_BYTES = 16 * 1024;
const VERSION_3 = 2;
const TAGGED_VERSION = 0xa0;
const TAGGED_EXTENSIONS = 0xa3;
/** issuerUniqueID, subjectUniqueID, extensions. */
const LAST_TAGS: readonly number[] = [0x81, 0x82, TAGGED_EXTENSIONS];
const EMAIL_NAME = 0x81;
const HOST_NAME = 0x82;
const URI_NAME = 0x86;
const ADDRESS_NAME = 0x87;
const DIRECTORY_NAME = 0xa4;
/** GeneralName (RFC 5280 §4.2.1.6). */
const NAME_TAGS: readonly number[] = [
  ...[0xa0, EMAIL_NAME, HOST_NAME, 0xa3, DIRECTORY_NAME, 0xa5, URI_NAME, ADDRESS_NAME, 0x88],
];
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/** @throws DerError for what is no certificate of version 3, or has an extension twice */
export function readCertificateContent<Bytes extends Uint8Array>(der: Bytes): CertificateContent<Bytes> {
  if (der.length > MAX_BYTES) throw new DerError("the certificate is too large");
  const whole = readDer(der, derTags.sequence);
  requireDerThroughout(whole);
  const [body, outerAlgorithm, signature] = partsOf(whole, 3, "a certificate");
  const [version, serial, algorithm, issuer, validity, subject, keyInfo, ...rest] = childrenOf(
    expectTag(body, derTags.sequence),
  );
  const number = onlyChild(expectTag(version, TAGGED_VERSION));
  if (smallInteger(expectTag(number, derTags.integer)) !== VERSION_3)
    throw new DerError("not a certificate of version 3");
  const signatureAlgorithm = expectTag(algorithm, derTags.sequence);
  // The signed part repeats the signature algorithm (RFC 5280 §4.1.1.2).
  if (!areSameBytes(expectTag(outerAlgorithm, derTags.sequence).raw, signatureAlgorithm.raw))
    throw new DerError("the two signature algorithms differ");
  const [validFrom, validTo] = partsOf(expectTag(validity, derTags.sequence), 2, "a validity's two times");
  return {
    der,
    signed: expectTag(body, derTags.sequence).raw,
    signatureAlgorithm,
    signature: expectTag(signature, derTags.bitString),
    serial: expectTag(serial, derTags.integer).content,
    issuer: requireName(issuer).raw,
    subject: requireName(subject).raw,
    validFrom: timeOf(validFrom),
    validTo: timeOf(validTo),
    keyInfo: expectTag(keyInfo, derTags.sequence),
    ...parseExtensions(extensionsOf(valuesInOrder(rest, LAST_TAGS).at(-1))),
  };
}

/** The optional values of these tags, in this order. Nothing else may be there: another parser might read what this one skips. */
function valuesInOrder<Bytes extends Uint8Array>(
  values: readonly DerElement<Bytes>[],
  tags: readonly number[],
): (DerElement<Bytes> | undefined)[] {
  let last = -1;
  for (const { tag } of values) {
    const place = tags.indexOf(tag);
    if (place <= last) throw new DerError("a value that does not belong there");
    last = place;
  }
  return tags.map((wanted) => values.find(({ tag }) => tag === wanted));
}

/** Whole seconds of UTC, in one of the two forms of RFC 5280 §4.1.2.5. @returns milliseconds */
function timeOf(element: DerElement | undefined): number {
  const { tag, content } = element ?? expectTag(element, UTC_TIME);
  const text = String.fromCharCode(...content);
  const short = tag === UTC_TIME && /^\d{12}Z$/.test(text);
  // Two digits mean 1950 to 2049.
  const full = short ? `${Number(text.slice(0, 2)) < 50 ? "20" : "19"}${text}` : text;
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full);
  if (!parts || !(short || tag === GENERALIZED_TIME)) throw new DerError("not a time");
  const [, year, month, day, hour, minute, second] = parts;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = Date.parse(iso);
  // The 30th of February.
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) throw new DerError("not a time");
  return time;
}

interface Extension<Bytes extends Uint8Array> {
  readonly isCritical: boolean;
  readonly value: Bytes;
}

/** By OID. */
function extensionsOf<Bytes extends Uint8Array>(
  tagged: DerElement<Bytes> | undefined,
): Map<string, Extension<Bytes>> {
  const extensions = new Map<string, Extension<Bytes>>();
  if (!tagged) return extensions;
  for (const entry of childrenOf(expectTag(onlyChild(tagged), derTags.sequence))) {
    const [oid, ...rest] = partsOf(expectTag(entry, derTags.sequence), 3, "an extension");
    const name = oidOf(expectTag(oid, derTags.oid));
    // RFC 5280 §4.2: parsers that take the first and those that take the last would disagree.
    if (extensions.has(name)) throw new DerError("an extension is there twice");
    const critical = rest.length === 2 ? expectTag(rest[0], derTags.boolean) : undefined;
    const value = expectTag(rest[critical ? 1 : 0], derTags.octetString).content;
    extensions.set(name, { isCritical: critical !== undefined && booleanOf(critical), value });
  }
  return extensions;
}

function parseExtensions<Bytes extends Uint8Array>(extensions: Map<string, Extension<Bytes>>) {
  const value = (oid: string): Bytes | undefined => extensions.get(oid)?.value;
  const [keyUsage, keyId] = [value(extensionOids.keyUsage), value(keyIdentifierOids.subject)];
  const processed: readonly string[] = Object.values(extensionOids);
  return {
    ...basicConstraintsOf(value(extensionOids.basicConstraints)),
    keyUsage: keyUsage && bitsOf(readDer(keyUsage, derTags.bitString)),
    ...subjectNamesOf(value(extensionOids.subjectAltName)),
    extendedKeyUsage: oidsOf(value(optionalExtensionOids.extendedKeyUsage)),
    subjectKeyId: keyId && readDer(keyId, derTags.octetString).content,
    issuerKey: issuerKeyOf(value(keyIdentifierOids.authority)),
    hasNameConstraints: extensions.has(extensionOids.nameConstraints),
    otherCritical: [...extensions.keys()].filter(
      (oid) => extensions.get(oid)?.isCritical && !processed.includes(oid),
    ),
  };
}

function basicConstraintsOf(value: Uint8Array | undefined): Pick<CertificateContent, "isCa" | "pathLength"> {
  if (!value) return { isCa: false, pathLength: undefined };
  const parts = childrenOf(readDer(value, derTags.sequence));
  const [ca, length] = valuesInOrder(parts, [derTags.boolean, derTags.integer]);
  return { isCa: ca !== undefined && booleanOf(ca), pathLength: length && smallInteger(length) };
}

function subjectNamesOf<Bytes extends Uint8Array>(
  value: Bytes | undefined,
): Pick<CertificateContent<Bytes>, "subjectUris" | "subjectNames"> {
  const names = value ? namesIn(readDer(value, derTags.sequence)) : [];
  const contents = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => content);
  const texts = (tag: number) => contents(tag).map((content) => String.fromCharCode(...content));
  const addresses = contents(ADDRESS_NAME).filter(({ length }) => length === 4 || length === 16);
  return {
    subjectUris: texts(URI_NAME),
    subjectNames: { hosts: texts(HOST_NAME), emails: texts(EMAIL_NAME), addresses },
  };
}

function namesIn<Bytes extends Uint8Array>(names: DerElement<Bytes>): DerElement<Bytes>[] {
  const all = childrenOf(names);
  if (!all.every(({ tag }) => NAME_TAGS.includes(tag))) throw new DerError("not a name");
  return all;
}

function oidsOf(value: Uint8Array | undefined): ReadonlySet<string> | undefined {
  if (!value) return undefined;
  const oids = childrenOf(readDer(value, derTags.sequence));
  return new Set(oids.map((oid) => oidOf(expectTag(oid, derTags.oid))));
}

function issuerKeyOf<Bytes extends Uint8Array>(value: Bytes | undefined): IssuerKey<Bytes> {
  if (!value) return {};
  const parts = childrenOf(readDer(value, derTags.sequence));
  const [keyId, names, serial] = valuesInOrder(parts, [0x80, 0xa1, 0x82]);
  const directory = names && namesIn(names).find(({ tag }) => tag === DIRECTORY_NAME);
  const [issuer] = directory ? childrenOf(directory) : [];
  return { keyId: keyId?.content, issuer: issuer?.raw, serial: serial?.content };
}

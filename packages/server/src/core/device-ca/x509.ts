/** DER building blocks of certificates, CRLs and OCSP responses (RFC 5280 §4.1, §5.1; RFC 6960 §4.2). */
import { createHash, randomBytes, randomInt } from "node:crypto";
import { childrenOf, derTags, expectTag, readDer, wholeBytesOf } from "@signet/protocol/der/der";
import {
  derBitString,
  derInteger,
  derOctetString,
  derOid,
  derSequence,
  derText,
  derTime,
  derTrue,
  derValue,
} from "@signet/protocol/der/der-writer";

/** Context-specific tags: `[3]` is 0xa3 when constructed, 0x83 when primitive. */
export const tags = {
  set: 0x31,
  enumerated: 0x0a,
  utcTime: 0x17,
  constructed: 0xa0,
  primitive: 0x80,
} as const;

/** @param dotted e.g. `2.5.4.3` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...others].flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let rest = arc >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
    return digits;
  });
  return derOid(Buffer.from(bytes).toString("hex"));
}

const ORGANISATION = oid("2.5.4.10");
const COMMON_NAME = oid("2.5.4.3");
const AUTHORITY_KEY_IDENTIFIER = oid("2.5.29.35");

/** ecdsa-with-SHA256, without parameters (RFC 5758 §3.2). */
export const signatureAlgorithm = derSequence(oid("1.2.840.10045.4.3.2"));

/** `O=…, CN=…`. */
export function distinguishedName(organisation: string, commonName: string): Buffer {
  const attribute = (type: Buffer, value: string) => derValue(tags.set, derSequence(type, derText(value)));
  return derSequence(attribute(ORGANISATION, organisation), attribute(COMMON_NAME, commonName));
}

/** UTCTime until 2049, GeneralizedTime from then on (RFC 5280 §4.1.2.5). @param milliseconds whole seconds */
export function x509Time(milliseconds: number): Buffer {
  const date = new Date(milliseconds);
  if (date.getUTCFullYear() >= 2050) return derTime(date);
  return derValue(tags.utcTime, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`));
}

export interface ExtensionOptions {
  readonly critical?: boolean;
}

export const extension = (
  name: Buffer,
  content: Buffer,
  { critical = false }: ExtensionOptions = {},
): Buffer => derSequence(name, ...(critical ? [derTrue] : []), derOctetString(content));

export const authorityKeyIdentifier = (keyId: Buffer): Buffer =>
  extension(AUTHORITY_KEY_IDENTIFIER, derSequence(derValue(tags.primitive, keyId)));

/** The bits of a SubjectPublicKeyInfo's key. @throws DerError */
export function keyBits(spki: Buffer): Buffer {
  const [, key] = childrenOf(readDer(spki, derTags.sequence));
  return wholeBytesOf(expectTag(key, derTags.bitString));
}

/** 160 bits of SHA-256 of the key itself (RFC 7093 §2, method 1). */
export const keyIdentifier = (spki: Buffer): Buffer =>
  createHash("sha256").update(keyBits(spki)).digest().subarray(0, 20);

/**
 * 128 random bits (RFC 5280 §4.1.2.2): 32 hexadecimal digits. The first byte is never 0, which DER would leave out: every program
 * shows the same digits of a certificate as our pages do.
 */
export const newSerial = (): string =>
  Buffer.concat([Buffer.of(randomInt(1, 0x100)), randomBytes(15)]).toString("hex");

/** @param hexadecimal 32 digits */
export const serialNumber = (hexadecimal: string): Buffer => derInteger(Buffer.from(hexadecimal, "hex"));

/** The structure of certificates, CRLs and basic OCSP responses: content, algorithm, signature. */
export async function signStructure(
  content: Buffer,
  sign: (bytes: Uint8Array) => Promise<Buffer>,
): Promise<Buffer> {
  return derSequence(content, signatureAlgorithm, derBitString(await sign(content)));
}

export const toPem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

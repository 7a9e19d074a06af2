/**
 * Distinguished names as structures: the text of RFC 4514 and the DER of a certificate become the same parts, which are then
 * compared by RFC 5280 §7.1. So neither escapes, spaces between parts, nor the order within a part can make a name another one.
 * Platform-independent.
 */
import { areSameBytes, childrenOf, type DerElement, DerError, derTags, oidOf, readDer } from "../der/der.ts";
import { requireName } from "./certificate-name.ts";

/** One attribute: its type as the hexadecimal content of an OID, and its value. */
interface Attribute {
  readonly type: string;
  /** Folded; undefined for a value that is no text of a known kind. */
  readonly text: string | undefined;
  readonly raw: Uint8Array | undefined;
}

/** Of the order of RFC 4514: the most specific part first. */
export type DistinguishedName = ReadonlyArray<readonly Attribute[]>;

/** RFC 4514 §3, and the types besides that RFC 5280 §4.1.2.4 and RFC 4519 name and OpenSSL prints. */
const types: Readonly<Record<string, string>> = {
  ...{ CN: "550403", SN: "550404", SERIALNUMBER: "550405", C: "550406", L: "550407", ST: "550408" },
  ...{ S: "550408", STREET: "550409", O: "55040a", OU: "55040b", TITLE: "55040c", POSTALCODE: "550411" },
  ...{ GIVENNAME: "55042a", GN: "55042a", INITIALS: "55042b", GENERATIONQUALIFIER: "55042c" },
  ...{ DNQUALIFIER: "55042e", PSEUDONYM: "550441", ORGANIZATIONIDENTIFIER: "550461" },
  ...{ BUSINESSCATEGORY: "55040f", UID: "0992268993f22c640101", DC: "0992268993f22c640119" },
  ...{ EMAILADDRESS: "2a864886f70d010901", E: "2a864886f70d010901" },
};

const MAX_LENGTH = 2_048;
const MAX_PARTS = 40;

/** @returns undefined for a text that is no distinguished name, or one of no parts */
export function parseDistinguishedName(text: string): DistinguishedName | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const parts = splitUnescaped(text, ",")?.map(partOf);
  if (!parts || parts.length > MAX_PARTS) return undefined;
  const read = parts.filter((part) => part !== undefined);
  return read.length === parts.length ? read : undefined;
}

function partOf(text: string): Attribute[] | undefined {
  const attributes = splitUnescaped(text, "+")?.map(attributeOf);
  const read = attributes?.filter((attribute) => attribute !== undefined);
  return read?.length === attributes?.length ? read : undefined;
}

/** @param name of a certificate, as DER. @throws DerError */
export function readDistinguishedName(name: Uint8Array): DistinguishedName {
  const parts = childrenOf(requireName(readDer(name, derTags.sequence)));
  return parts
    .map((part) =>
      childrenOf(part).map((attribute): Attribute => {
        const [type, value] = childrenOf(attribute);
        if (!type || !value) throw new DerError("not a name");
        return { type: oidOf(type), ...attributeValue(value) };
      }),
    )
    .reverse();
}

/** Part by part; within a part of several attributes the order says nothing (RFC 4514 §2.2). */
export const areSameNames = (a: DistinguishedName, b: DistinguishedName): boolean =>
  a.length === b.length && a.every((part, index) => areSameParts(part, b[index] ?? []));

function areSameParts(a: readonly Attribute[], b: readonly Attribute[]): boolean {
  const left = [...b];
  const isMatched = (one: Attribute): boolean => {
    const index = left.findIndex((other) => areSameAttributes(one, other));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  };
  return a.length === b.length && a.every(isMatched);
}

function areSameAttributes(a: Attribute, b: Attribute): boolean {
  if (a.type !== b.type) return false;
  if (a.text !== undefined || b.text !== undefined) return a.text === b.text;
  return a.raw !== undefined && b.raw !== undefined && areSameBytes(a.raw, b.raw);
}

/** @returns undefined when an escape has no end */
function splitUnescaped(text: string, separator: "," | "+"): string[] | undefined {
  const parts = text.match(separator === "," ? /(?:\\[\s\S]|[^\\,])+/g : /(?:\\[\s\S]|[^\\+])+/g) ?? [];
  // Nothing between two separators, at the start or the end, or after a lone backslash.
  return parts.length > 0 && parts.join(separator) === text ? parts : undefined;
}

/** `type=value`. Spaces that no backslash keeps belong to neither (RFC 2253 §4, which RFC 4514 §3 lets us read). */
function attributeOf(part: string): Attribute | undefined {
  const [, named = "", value] = /^ *([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+) *= *([\s\S]*)$/.exec(part) ?? [];
  const type = Object.hasOwn(types, named.toUpperCase()) ? types[named.toUpperCase()] : oidHex(named);
  if (type === undefined || value === undefined) return undefined;
  if (value.startsWith("#")) {
    const parsed = hexValue(value.replace(/ +$/, "").slice(1));
    return parsed && { type, ...parsed };
  }
  const plain = unescaped(value);
  const text = plain && folded(plain);
  return text ? { type, text, raw: undefined } : undefined;
}

const HEX_PAIRS = /^(?:[0-9A-Fa-f]{2})+$/;

function hexValue(hex: string): Omit<Attribute, "type"> | undefined {
  if (!HEX_PAIRS.test(hex)) return undefined;
  const bytes = bytesOfHex(hex);
  try {
    return attributeValue(readDer(bytes, bytes[0] ?? 0));
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

const bytesOfHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** RFC 4514 §2.4 and §3: a backslash before a special character, or before two hexadecimal digits of a byte of UTF-8. */
function unescaped(value: string): string | undefined {
  // What must be escaped, unescaped (RFC 4514 §3).
  if (!/^(?:\\[0-9A-Fa-f]{2}|\\[ "#+,;<=>\\]|[^\\"+,;<>\0])*$/.test(value)) return undefined;
  const bytes: number[] = [];
  for (const [token] of value.matchAll(/\\[0-9A-Fa-f]{2}|\\[\s\S]|[\s\S]/gu)) {
    if (/^\\[0-9A-Fa-f]{2}$/.test(token)) bytes.push(Number.parseInt(token.slice(1), 16));
    else bytes.push(...new TextEncoder().encode(token.startsWith("\\") ? token.slice(1) : token));
  }
  return decoded(Uint8Array.from(bytes));
}

/** Directory strings of any encoding are equal by their characters (RFC 5280 §7.1). */
function attributeValue({ tag, content, raw }: DerElement): Omit<Attribute, "type"> {
  const text = textOf(tag, content);
  return text === undefined ? { text: undefined, raw } : { text: folded(text), raw: undefined };
}

/** UTF8String, NumericString, PrintableString, IA5String, BMPString. TeletexString has no one meaning, so that its bytes count. */
function textOf(tag: number, content: Uint8Array): string | undefined {
  if (tag === 0x0c) return decoded(content);
  if (tag === 0x1e) return decoded(content, "utf-16be");
  const isAscii = [0x12, 0x13, 0x16].includes(tag) && content.every((byte) => byte < 0x80);
  return isAscii ? String.fromCharCode(...content) : undefined;
}

function decoded(bytes: Uint8Array, encoding: "utf-8" | "utf-16be" = "utf-8"): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Letters of ASCII in either case and runs of spaces are equal (RFC 5280 §7.1). No compatibility mapping (RFC 4518): characters
 * that look alike stay different.
 */
const folded = (text: string): string =>
  text
    .replace(/ +/g, " ")
    .replace(/^ | $/g, "")
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** @returns undefined for a text that is no OID */
function oidHex(dotted: string): string | undefined {
  const arcs = dotted.split(".").map(Number);
  const [first = 3, second = -1, ...rest] = arcs;
  const isOid =
    arcs.every((arc, index) => Number.isSafeInteger(arc) && String(arc) === dotted.split(".")[index]) &&
    (first < 2 ? second < 40 : first === 2) &&
    second >= 0 &&
    arcs.length <= 20;
  return isOid ? [first * 40 + second, ...rest].map(base128).join("") : undefined;
}

function base128(arc: number): string {
  const digits = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
    digits.unshift(128 + (left % 128));
  return digits.map((digit) => digit.toString(16).padStart(2, "0")).join("");
}

/** Strict DER parser (X.690 §8, §10): canonical encodings, nothing left over. Platform-independent; a Buffer gives Buffers. */
export interface DerElement<Bytes extends Uint8Array = Uint8Array> {
  readonly tag: number;
  readonly content: Bytes;
  /** Tag, length and content, as they are compared and signed. */
  readonly raw: Bytes;
}

export class DerError extends Error {
  override readonly name = "DerError";
}

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
} as const;

const CONSTRUCTED = 0x20;
const CONTEXT_CLASS = 0x40;
const SEQUENCE = 0x10;
const SET = 0x11;
/** Certificate requests have about eight levels. */
const MAX_DEPTH = 32;

/** Exactly one element. @throws DerError */
export function readDer<Bytes extends Uint8Array>(bytes: Bytes, tag: number): DerElement<Bytes> {
  const element = elementAt(bytes, 0);
  if (element.raw.length !== bytes.length) throw new DerError("there is something after the value");
  return expectTag(element, tag);
}

/** The elements in a constructed one. @throws DerError */
export function childrenOf<Bytes extends Uint8Array>({ content }: DerElement<Bytes>): DerElement<Bytes>[] {
  const children: DerElement<Bytes>[] = [];
  for (let at = 0; at < content.length; ) {
    const child = elementAt(content, at);
    children.push(child);
    at += child.raw.length;
  }
  return children;
}

/** The parts of a structure. @param what named in the error if there are more than `max`. @throws DerError */
export function partsOf<Bytes extends Uint8Array>(
  structure: DerElement<Bytes>,
  max: number,
  what: string,
): DerElement<Bytes>[] {
  const parts = childrenOf(structure);
  if (parts.length > max) throw new DerError(`there is more than ${what}`);
  return parts;
}

/** The element in an explicitly tagged one. @throws DerError */
export function onlyChild<Bytes extends Uint8Array>(element: DerElement<Bytes>): DerElement<Bytes> {
  const [child, ...more] = childrenOf(element);
  if (!child || more.length > 0) throw new DerError("not one value");
  return child;
}

/** @throws DerError if it is missing, or has another tag */
export function expectTag<Bytes extends Uint8Array>(
  element: DerElement<Bytes> | undefined,
  tag: number,
): DerElement<Bytes> {
  if (element?.tag !== tag) throw new DerError(`a value of tag ${tag} is missing`);
  return element;
}

/** @throws DerError if it is negative, not minimal, or longer than 4 bytes */
export function smallInteger({ content }: DerElement): number {
  const [first = 0x80, second = 0] = content;
  const isPadded = first === 0 && content.length > 1 && second < 0x80;
  if (first >= 0x80 || content.length > 4 || isPadded) throw new DerError("not a small number");
  return numberIn(content);
}

/** DER has one encoding of true (X.690 §11.1). @throws DerError */
export function booleanOf({ content }: DerElement): boolean {
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError("not a boolean");
  return content[0] === 0xff;
}

/** The positions of set bits, from the left. @throws DerError */
export function bitsOf({ content }: DerElement): ReadonlySet<number> {
  const [unused = 8, ...bytes] = content;
  if (unused > 7 || (bytes.length === 0 && unused > 0)) throw new DerError("not a bit string");
  const set = new Set<number>();
  for (let bit = 0; bit < bytes.length * 8 - unused; bit++)
    if (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) set.add(bit);
  return set;
}

/** The bytes of a bit string without unused bits. @throws DerError */
export function wholeBytesOf<Bytes extends Uint8Array>({ content }: DerElement<Bytes>): Bytes {
  if (content[0] !== 0) throw new DerError("not whole bytes");
  return part(content, 1, content.length);
}

/** Checks that an uninspected value is DER throughout. @throws DerError */
export function requireDerThroughout(element: DerElement): void {
  let level: readonly DerElement[] = [element];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new DerError("values within values without end");
    level = level.flatMap((one) => {
      requirePlainForm(one);
      return (one.tag & CONSTRUCTED) === 0 ? [] : childrenOf(one);
    });
  }
}

/** Of the universal class, only sequences and sets are constructed (X.690 §10.2). */
function requirePlainForm({ tag, content }: DerElement): void {
  if (tag >= CONTEXT_CLASS) return;
  const kind = tag & ~CONSTRUCTED;
  const isHolder = kind === SEQUENCE || kind === SET;
  if (isHolder !== ((tag & CONSTRUCTED) !== 0)) throw new DerError("a value in the wrong form");
  const [first = 0, second = 0] = content;
  // Minimal integers (X.690 §8.3.2).
  const isPadded = content.length > 1 && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80);
  if (tag === derTags.integer && (content.length === 0 || isPadded)) throw new DerError("not a number");
}

/** The content in hex: it is compared, never shown. @throws DerError (X.690 §8.19) */
export function oidOf({ content }: DerElement): string {
  const isWhole = (content.at(-1) ?? 0x80) < 0x80;
  const isPadded = content.some((byte, at) => byte === 0x80 && (content[at - 1] ?? 0) < 0x80);
  if (!isWhole || isPadded) throw new DerError("not an object identifier");
  return Array.from(content, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Not in constant time: for public values. */
export const areSameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

function elementAt<Bytes extends Uint8Array>(bytes: Bytes, at: number): DerElement<Bytes> {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) throw new DerError("the value ends too early");
  if ((tag & 0x1f) === 0x1f) throw new DerError("a tag of several bytes");
  let header = 2;
  let length = first;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size < 1 || size > 3 || at + 2 + size > bytes.length) throw new DerError("a length that is none");
    length = numberIn(bytes.subarray(at + 2, at + 2 + size));
    if (length < 0x80 || length < 2 ** (8 * (size - 1))) throw new DerError("a length that is too long");
    header += size;
  }
  const end = at + header + length;
  if (end > bytes.length) throw new DerError("the value ends too early");
  return { tag, content: part(bytes, at + header, end), raw: part(bytes, at, end) };
}

/** `subarray` of a Buffer is a Buffer. */
const part = <Bytes extends Uint8Array>(bytes: Bytes, from: number, to: number): Bytes =>
  bytes.subarray(from, to) as Bytes;

/** Big-endian, at most four bytes. */
const numberIn = (bytes: Uint8Array): number => bytes.reduce((number, byte) => number * 0x100 + byte, 0);

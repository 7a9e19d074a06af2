/** Writes DER (X.690 §8 and §10): what der.ts reads. Its values are complete elements, ready to be put into others. */

/** One element. @param parts its content, joined */
export function derValue(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = Math.ceil((32 - Math.clz32(length)) / 8);
  const header = Buffer.alloc(2 + size);
  header[0] = tag;
  header[1] = 0x80 | size;
  header.writeUIntBE(length, 2, size);
  return Buffer.concat([header, content]);
}

export const derSequence = (...parts: readonly Uint8Array[]): Buffer => derValue(0x30, ...parts);

/** @param hex the identifier's content, as der.ts gives it */
export const derOid = (hex: string): Buffer => derValue(0x06, Buffer.from(hex, "hex"));

/** A number that is not negative. @param value 0 to 2^48 − 1, or its bytes, the most significant first */
export function derInteger(value: number | Uint8Array): Buffer {
  const bytes = typeof value === "number" ? bytesOf(value) : Buffer.from(value);
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : bytes.subarray(start);
  // A first bit that is set would be a sign.
  return (digits[0] ?? 0) < 0x80 ? derValue(0x02, digits) : derValue(0x02, Buffer.from([0]), digits);
}

/** Whole bytes. */
export const derBitString = (bytes: Uint8Array): Buffer => derValue(0x03, Buffer.from([0]), bytes);

export const derOctetString = (bytes: Uint8Array): Buffer => derValue(0x04, bytes);

export const derText = (text: string): Buffer => derValue(0x0c, Buffer.from(text, "utf8"));

export const derNull: Buffer = derValue(0x05);

export const derTrue: Buffer = derValue(0x01, Buffer.from([0xff]));

/** GeneralizedTime of whole seconds (RFC 5280 §4.1.2.5.2). */
export const derTime = (date: Date): Buffer =>
  derValue(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`));

/** A name of a common name alone; none at all is a name too (RFC 5280 §4.1.2.4). */
export const derName = (commonName?: string): Buffer =>
  commonName === undefined
    ? derSequence()
    : derSequence(derValue(0x31, derSequence(derOid("550403"), derText(commonName))));

function bytesOf(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

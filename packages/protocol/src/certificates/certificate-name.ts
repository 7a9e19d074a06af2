/** Syntax of names in certificates (RFC 5280 §4.1.2.4). Names are compared byte for byte, so their content is never decoded. */
import { bitsOf, childrenOf, type DerElement, DerError, derTags, expectTag, oidOf } from "../der/der.ts";

const SET = 0x31;
const UTF8 = 0x0c;
/** UTF8String, NumericString, PrintableString, TeletexString, IA5String, and the bit string of x500UniqueIdentifier. */
const singleByteTags: readonly number[] = [UTF8, 0x12, 0x13, 0x14, 0x16, derTags.bitString];
/** UniversalString and BMPString, with the bytes of a character. */
const wideTags: ReadonlyMap<number, number> = new Map([
  [0x1c, 4],
  [0x1e, 2],
]);

/** As OpenSSL requires it too; empty names are allowed. @throws DerError */
export function requireName<Bytes extends Uint8Array>(
  element: DerElement<Bytes> | undefined,
): DerElement<Bytes> {
  const name = expectTag(element, derTags.sequence);
  for (const part of childrenOf(name)) {
    const attributes = childrenOf(expectTag(part, SET));
    if (attributes.length === 0) throw new DerError("a part of a name is empty");
    for (const attribute of attributes) requireAttribute(attribute);
  }
  return name;
}

function requireAttribute(attribute: DerElement): void {
  const [type, value, ...more] = childrenOf(expectTag(attribute, derTags.sequence));
  oidOf(expectTag(type, derTags.oid));
  const unit = value && (singleByteTags.includes(value.tag) ? 1 : wideTags.get(value.tag));
  if (!unit || value.content.length % unit !== 0 || more.length > 0) throw new DerError("not a name");
  if (value.tag === UTF8) requireUtf8(value.content);
  if (value.tag === derTags.bitString) bitsOf(value);
}

function requireUtf8(bytes: Uint8Array): void {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DerError("a name that is not UTF-8");
  }
}

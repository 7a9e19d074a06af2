/**
 * Names that somebody else chose, where a reader could take them for our own words: in emails, and on pages behind their links.
 * A name that could be a message (an address, a telephone number, a sentence) isn't repeated.
 */

const MAX_CHARACTERS = 60;
const MAX_WORDS = 7;

/** `example.org`, `@example`, `//example`, `www.`: what mail programs and readers turn into an address. */
const ADDRESS = /[@\\]|:\/|\/\/|\bwww\b|[\p{L}\p{N}](?:[.\u3002]|\s[.\u3002]\s?)\p{L}{2,}/iu;
/** Six digits, however they are grouped: years and house numbers stay below. */
const TELEPHONE = /(?:\p{Nd}[\s()./\u2010-\u2015_+-]*){6,}/u;
/** A word, the end of a sentence, and more text; or what announces text. Not `Dr. Berg` or `St. Mary`. */
const SENTENCE = /\p{L}{4,}\s?[.!?\u2026\u3002]+(?:\s|$)\s*\S|[!?:;\u2026]\s*\S|[!?]{2,}|[\r\n]/u;

/** @returns the name on one line, without quotation marks of its own; undefined if it could be a message */
export function quotableName(text: string): string | undefined {
  const folded = text.normalize("NFKC");
  if (/[\r\n\u0085\u2028\u2029]/.test(folded)) return undefined;
  const name = folded
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, "")
    .replace(/["\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a<>]/g, "")
    .replace(/\s+/gu, " ")
    .trim();
  if (name === "" || [...name].length > MAX_CHARACTERS || name.split(" ").length > MAX_WORDS)
    return undefined;
  return [ADDRESS, TELEPHONE, SENTENCE].some((pattern) => pattern.test(name)) ? undefined : name;
}

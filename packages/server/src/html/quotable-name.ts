/**
 * Names that somebody else chose, where a reader could take them for our own words: in emails, and on pages behind their links.
 * A name that could be a message (an address, a telephone number, a sentence) isn't repeated.
 */

const MAX_CHARACTERS = 60;
const MAX_WORDS = 7;

/**
 * `example.org`, `@example`, `//example`, `www.`, `192.0.2.1`: what mail programs and readers turn into an address; and what
 * readers alone do: `example[.]org`, `example dot com`.
 */
const ADDRESSES = [
  /[@\\]|:\/|\/\/|\bwww\b|[\p{L}\p{N}](?:[.\u3002]|\s[.\u3002]\s?)\p{L}{2,}/iu,
  /\p{Nd}{1,3}(?:\.\p{Nd}{1,3}){3}/u,
  /[[({]\s*(?:\.|dot)\s*[\])}]|\sdot\s(?:com|org|net|info|io)\b/iu,
];
/** Six digits, whatever stands between them but letters: years and house numbers stay below. And `1-800-FLOWERS`. */
const TELEPHONES = [/(?:\p{Nd}[^\p{L}\p{Nd}]*){6,}/u, /\p{Nd}[-.\s]\p{Nd}{3,}[-.\s]?\p{L}{4,}/u];
/**
 * A word, the end of a sentence, and more text; or what announces text; or three words that end as a sentence. Not `Dr. Berg`,
 * `St. Mary`, `Yahoo!` or `Acme Inc.`.
 */
const SENTENCES = [
  /\p{L}{4,}\s?[.!?\u2026\u3002]+(?:\s|$)\s*\S|[!?:;\u2026]\s*\S|[!?]{2,}|[\r\n]/u,
  /(?<!\p{L})\p{Ll}{2,3}[.]\s+\S/u,
  /\S\s+\S+\s(?:.*\s)?(?:\p{L}+[!?\u2026]|\p{Ll}{4,}[.\u3002])$/u,
];
const MESSAGES = [...ADDRESSES, ...TELEPHONES, ...SENTENCES];

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
  return MESSAGES.some((pattern) => pattern.test(name)) ? undefined : name;
}

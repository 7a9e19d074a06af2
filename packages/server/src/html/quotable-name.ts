/**
 * Names that somebody else chose, where a reader could take them for our own words: in emails, and on pages behind their links.
 * A name that could be a message (an address, a telephone number, a sentence) isn't repeated.
 */

import { hasContactDetails } from "@signet/protocol/contact-details";

const MAX_CHARACTERS = 60;
const MAX_WORDS = 7;

/**
 * A word, the end of a sentence, and more text; or what announces text; or three words that end as a sentence. Not `Dr. Berg`,
 * `St. Mary`, `Yahoo!` or `Acme Inc.`.
 */
const SENTENCES = [
  /\p{L}{4,}\s?[.!?\u2026\u3002]+(?:\s|$)\s*\S|[!?:;\u2026]\s*\S|[!?]{2,}|[\r\n]/u,
  /(?<!\p{L})\p{Ll}{2,3}[.]\s+\S/u,
  /\S\s+\S+\s(?:.*\s)?(?:\p{L}+[!?\u2026]|\p{Ll}{4,}[.\u3002])$/u,
];

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
  const isMessage = hasContactDetails(name) || SENTENCES.some((pattern) => pattern.test(name));
  return isMessage ? undefined : name;
}

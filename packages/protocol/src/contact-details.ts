/** What mail programs and readers turn into a way to reach somebody: web addresses, email addresses, telephone numbers. */

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

/** @param text in normalization form NFKC */
export const hasContactDetails = (text: string): boolean =>
  [...ADDRESSES, ...TELEPHONES].some((pattern) => pattern.test(text));

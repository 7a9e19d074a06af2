/** The forms of subject alternative names that clients are registered with (RFC 5280 §4.2.1.6, §7.2, §7.5; RFC 8705 §2.1.2). */
import { isIP } from "node:net";

/** A host name, never a wildcard: a certificate for `*.example` is of no one client. */
export const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*$/.test(text) &&
  // Otherwise it is an address that looks like a name.
  isIP(text) === 0;

/** Of ASCII, as rfc822Name has it; others are SmtpUTF8Mailbox names (RFC 8398), which are not compared. */
export function isEmailName(text: string): boolean {
  const at = text.lastIndexOf("@");
  return (
    text.length <= 254 &&
    /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/.test(text.slice(0, Math.max(at, 0))) &&
    isHostName(text.slice(at + 1))
  );
}

/** Without case (RFC 5280 §7.2). */
export const isSameHost = (a: string, b: string): boolean => lowerCase(a) === lowerCase(b);

/** The part before the @ with its case, the host without (RFC 5280 §7.5). */
export function isSameEmail(a: string, b: string): boolean {
  const [placeOfA, placeOfB] = [a.lastIndexOf("@"), b.lastIndexOf("@")];
  return (
    placeOfA > 0 &&
    a.slice(0, placeOfA) === b.slice(0, Math.max(placeOfB, 0)) &&
    isSameHost(a.slice(placeOfA), b.slice(Math.max(placeOfB, 0)))
  );
}

/** ASCII alone: a letter of another script whose lower case is ASCII is another letter. */
const lowerCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The 4 or 16 bytes that are compared (RFC 8705 §2.1.2). @returns undefined for no address, and for one with a zone */
export function addressBytes(text: string): Uint8Array | undefined {
  const version = isIP(text);
  if (version === 4) return Uint8Array.from(text.split("."), Number);
  if (version !== 6 || text.includes("%")) return undefined;
  // The last 32 bits may be written as an IPv4 address (RFC 4291 §2.2).
  const [, start = text, last] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [];
  const tail = last === undefined ? "" : groupsOf(last);
  const [head = "", rest] = `${start}${tail}`.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = rest === undefined || rest === "" ? [] : rest.split(":");
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => "0");
  const groups = [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split(".").map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

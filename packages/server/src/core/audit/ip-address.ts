/** IP addresses in one spelling, so that an exact search finds them. */
import { isIP } from "node:net";

/**
 * IPv6 in its canonical form (RFC 5952), IPv4 mapped into IPv6 as IPv4, without brackets and zone.
 * @returns undefined for what is no address
 */
export function canonicalAddress(text: string): string | undefined {
  const [bare = ""] = text
    .trim()
    .replace(/^\[([^\]]*)\]$/, "$1")
    .split("%");
  switch (isIP(bare)) {
    case 4:
      return bare;
    case 6:
      return fromIPv6(bare);
    default:
      return undefined;
  }
}

/** The URL standard spells hosts as RFC 5952 does. */
function fromIPv6(address: string): string {
  const spelled = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(spelled) ?? [];
  if (high === undefined || low === undefined) return spelled;
  const groups = [high, low].map((group) => Number.parseInt(group, 16));
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join(".");
}

/** How an address may be stored: canonical, and as Node.js reports IPv4 on a listener for both. */
export const addressSpellings = (canonical: string): readonly string[] =>
  isIP(canonical) === 4 ? [canonical, `::ffff:${canonical}`] : [canonical];

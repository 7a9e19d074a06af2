/** The form of a client_id that is the address of its metadata document (OAuth Client ID Metadata Document §3). */
import { isIP } from "node:net";

const MAX_LENGTH = 2_048;

/**
 * https, with a host name and a path; no query, fragment, user name or dot segment. Compared byte by byte everywhere, so only the
 * normal form is one: what a URL parser would rewrite is none.
 */
export function isClientIdUrl(text: string): boolean {
  if (!text.startsWith("https://") || text.length > MAX_LENGTH || /[^\x21-\x7e]/.test(text)) return false;
  const url = URL.parse(text);
  if (!url || url.href !== text || text.includes("?") || text.includes("#")) return false;
  if (
    url.username !== "" ||
    url.password !== "" ||
    text.slice("https://".length).split("/")[0]?.includes("@")
  )
    return false;
  const isName = isIP(url.hostname.replace(/^\[(.*)\]$/, "$1")) === 0;
  return isName && url.pathname !== "/" && !/\/(?:\.|%2e){1,2}(?:\/|$)|%2f|%5c|\\/i.test(url.pathname);
}

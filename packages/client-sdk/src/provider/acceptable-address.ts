/** Which addresses the SDK may call or name. */

/**
 * Whether an address is absolute, without user name and fragment, and encrypted: `https`, or `http` where nobody can listen
 * (loopback hosts, RFC 8252 §8.3) or outside `production`.
 */
export function isAcceptableAddress(address: string, environment: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  if (url.username !== "" || url.password !== "" || url.hash !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && (environment !== "production" || isLoopback(url.hostname));
}

/** Names and addresses of the own machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3), as `URL.hostname` writes them. */
export function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]") return true;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/** Which URLs the SDK may call or redirect to. */

/** Absolute, without credentials or fragment, and encrypted (http: loopback, RFC 8252 §8.3, or outside `production`). */
export function isAllowedUrl(url: string, environment: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password, hash, protocol, hostname } = new URL(url);
  if (username !== "" || password !== "" || hash !== "") return false;
  if (protocol === "https:") return true;
  return protocol === "http:" && (environment !== "production" || isLoopback(hostname));
}

/** RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3; as `URL.hostname` normalises them. */
function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]") return true;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/** The cookies of a request, and what is said about them in an answer (RFC 6265, RFC 6265bis §4.1.3). */

/** The cookies of a request by name. Of two with one name the first counts, as browsers send the more specific one first. */
export function cookiesOf(request: Request): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && !cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
}

/**
 * The name in the browser. With `__Host-` no other host of the domain and no unencrypted answer can set it; that needs https.
 */
export function cookieName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

/**
 * A `Set-Cookie` value. Lax: a link or a redirect from elsewhere brings the cookie along, a POST or a frame from elsewhere does
 * not. `maxAgeSeconds` 0 deletes.
 */
export function setCookie(name: string, value: string, isSecure: boolean, maxAgeSeconds: number): string {
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax`;
  return `${name}=${value}; ${attributes}${isSecure ? "; Secure" : ""}`;
}

/**
 * `Cache-Control` of an answer with our cookies. A shared cache may keep `Set-Cookie` with the rest (RFC 9111 §7.3), and would
 * hand one person's session to the next.
 *
 * @param given what the answer says so far
 */
export function cacheControlWithCookies(given: string | null | undefined): string {
  return given && /\b(?:no-store|private)\b/i.test(given) ? given : "no-store";
}

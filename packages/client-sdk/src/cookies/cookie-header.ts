/** Cookie and Set-Cookie headers (RFC 6265, RFC 6265bis §4.1.3). */

/** A request's cookies by name. The first of two equal names counts: browsers send the more specific one first. */
export function parseCookies(request: Request): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && !cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
}

/** `__Host-` stops other hosts of the domain and unencrypted responses from setting the cookie. It needs https. */
export function cookieName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

/** A `Set-Cookie` value. Lax: sent with links and redirects from other sites, but not with their POSTs and frames. */
export function setCookie(name: string, value: string, isSecure: boolean, maxAgeSeconds: number): string {
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax`;
  return `${name}=${value}; ${attributes}${isSecure ? "; Secure" : ""}`;
}

/** `Cache-Control` of a response with cookies, which a shared cache could give to other users (RFC 9111 §7.3). */
export function privateCacheControl(current: string | null | undefined): string {
  return current && /\b(?:no-store|private)\b/i.test(current) ? current : "no-store";
}

/** A copy with the cookies, kept out of shared caches. A copy because the headers of a fetched response are immutable. */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  if (cookies.length === 0) return response;
  const copy = new Response(response.body, response);
  copy.headers.set("cache-control", privateCacheControl(copy.headers.get("cache-control")));
  for (const cookie of cookies) copy.headers.append("set-cookie", cookie);
  return copy;
}

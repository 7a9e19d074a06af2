/** Classifies requests, by Fetch Metadata where available: only a browser navigating to a page can be redirected to sign in. */

export type RequestKind =
  /** A tab opens a page: redirected. */
  | "navigation"
  /** A frame opens a page: gets a page with a link out of the frame, because sign-in pages don't show in frames. */
  | "frame"
  /** A form was submitted: its content is lost when signing in, so the user is told. */
  | "form"
  /** `fetch`, XMLHttpRequest, images, programs: get 401 with JSON. */
  | "fetch"
  /** Loaded speculatively: must not start a sign-in. */
  | "prefetch";

export function requestKind(request: Request): RequestKind {
  const { headers, method } = request;
  if (/prefetch|prerender/i.test(headers.get("sec-purpose") ?? headers.get("purpose") ?? ""))
    return "prefetch";
  if (!isNavigation(headers)) return "fetch";
  if (method !== "GET" && method !== "HEAD") return "form";
  return (headers.get("sec-fetch-dest") ?? "document") === "document" ? "navigation" : "frame";
}

/** The login route isn't for prefetches and embedded images, which would displace pending sign-ins. */
export function mayStartLogin(request: Request): boolean {
  const kind = requestKind(request);
  return kind !== "prefetch" && !(kind === "fetch" && request.headers.has("sec-fetch-mode"));
}

function isNavigation(headers: Headers): boolean {
  const mode = headers.get("sec-fetch-mode");
  if (mode !== null) return mode === "navigate";
  // Old browsers, and all browsers on plain http, send no Fetch Metadata; there, only pages are requested as HTML.
  const isXhr = headers.get("x-requested-with")?.toLowerCase() === "xmlhttprequest";
  return !isXhr && /(?:^|,)\s*text\/html\b/i.test(headers.get("accept") ?? "");
}

/** Who caused a request. Cookies don't tell: `SameSite=Lax` allows links from other sites, and always sibling domains. */
export type RequestSource = "same-origin" | "user" | "cross-site" | "unknown";

export function requestSource(request: Request, origin: string): RequestSource {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" ? "same-origin" : site === "none" ? "user" : "cross-site";
  const from = request.headers.get("origin");
  if (from !== null) return from === origin ? "same-origin" : "cross-site";
  return "unknown";
}

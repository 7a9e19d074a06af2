/** What sort of request it is: only a browser that goes to a page can be sent to sign in. By Fetch Metadata where it is. */

export type RequestKind =
  /** A tab that goes to a page: it is redirected. */
  | "navigation"
  /** A frame that goes to a page: sign-in pages do not show in frames, so it gets a page with a link out of it. */
  | "frame"
  /** A form that was sent: what it holds is not sent again after signing in, so its sender is told. */
  | "submission"
  /** `fetch`, XMLHttpRequest, images, programs: they get 401 with JSON. */
  | "call"
  /** Made ahead by the browser, perhaps for nothing: it must not begin a sign-in. */
  | "prefetch";

export function requestKind(request: Request): RequestKind {
  const { headers, method } = request;
  if (/prefetch|prerender/i.test(headers.get("sec-purpose") ?? headers.get("purpose") ?? ""))
    return "prefetch";
  if (!isNavigation(headers)) return "call";
  if (method !== "GET" && method !== "HEAD") return "submission";
  const place = headers.get("sec-fetch-dest") ?? "document";
  return place === "document" ? "navigation" : "frame";
}

/**
 * Whether a request may begin a sign-in by the filter's own path: what a browser loads ahead, or an image that a page names, is
 * nobody's wish, and would drop sign-ins that are under way.
 */
export function mayBeginSignIn(request: Request): boolean {
  const kind = requestKind(request);
  return kind !== "prefetch" && !(kind === "call" && request.headers.has("sec-fetch-mode"));
}

function isNavigation(headers: Headers): boolean {
  const mode = headers.get("sec-fetch-mode");
  if (mode !== null) return mode === "navigate";
  // Browsers leave Fetch Metadata out on plain http; there, and in old ones, only pages are asked for as HTML.
  const isScripted = headers.get("x-requested-with")?.toLowerCase() === "xmlhttprequest";
  return !isScripted && /(?:^|,)\s*text\/html\b/i.test(headers.get("accept") ?? "");
}

/**
 * Whether a page of the application itself, or the person by the address bar, is behind a request. Cookies do not tell:
 * `SameSite=Lax` sends them when another site links here, and sites beside ours on one domain get them sent always.
 */
export type Sender = "own" | "person" | "elsewhere" | "unknown";

export function senderOf(request: Request, origin: string): Sender {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" ? "own" : site === "none" ? "person" : "elsewhere";
  const from = request.headers.get("origin");
  if (from !== null) return from === origin ? "own" : "elsewhere";
  return "unknown";
}

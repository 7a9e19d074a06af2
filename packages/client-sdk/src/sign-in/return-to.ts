/** Where people go back to after signing in: a path of the application itself, whatever a request says. */

/** Cookies and addresses have an end; a longer path is no page that somebody would miss. */
const LONGEST = 1_500;

export interface OwnPaths {
  /** Origin of the application, e.g. `https://app.example.com`. */
  readonly origin: string;
  /** The filter's own paths, which nobody goes back to: signing in must not lead to signing out. */
  readonly basePath: string;
}

/**
 * An address that it is safe to send a browser to.
 * @param wanted path with query and fragment, e.g. of the query parameter `return_to`; anything may stand in it
 * @returns absolute, at the application's own origin; its front page for what is not a path of it
 */
export function returnAddress(own: OwnPaths, wanted: string | null | undefined): string {
  return `${own.origin}${ownPath(own, wanted) ?? "/"}`;
}

/** @returns path, query and fragment as the browser would read them; undefined for what leads elsewhere */
export function ownPath(
  { origin, basePath }: OwnPaths,
  wanted: string | null | undefined,
): string | undefined {
  if (!wanted?.startsWith("/") || !URL.canParse(wanted, origin)) return undefined;
  // Parsed as browsers do it, and given back as parsed: a backslash is a slash there, and tabs and line ends are nothing.
  const url = new URL(wanted, origin);
  // `//elsewhere` is another origin, and `/.//elsewhere` becomes `//elsewhere` once its dots are resolved.
  if (url.origin !== origin || url.pathname.startsWith("//")) return undefined;
  const isOwn = url.pathname === basePath || url.pathname.startsWith(`${basePath}/`);
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Measured as it is kept: a character of another script is nine of them when it is encoded.
  return isOwn || path.length > LONGEST ? undefined : path;
}

/** @returns the path of the page that a request came from, where that is one of ours */
export function refererPath(own: OwnPaths, request: Request): string | undefined {
  const referer = request.headers.get("referer");
  if (referer === null || !URL.canParse(referer)) return undefined;
  const { origin, pathname, search } = new URL(referer);
  return origin === own.origin ? ownPath(own, `${pathname}${search}`) : undefined;
}

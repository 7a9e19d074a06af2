/** Where users return to after signing in: always a path of the application, to prevent open redirects. */
import type { SignInContext } from "./sign-in.ts";

/** Cookies and URLs are limited in length, and no real page has a longer path. */
const MAX_PATH_LENGTH = 1_500;

type ApplicationUrls = Pick<SignInContext, "origin" | "basePath">;

/** @param requested untrusted. @returns absolute; the home page unless `requested` is a path of the application */
export function returnUrl(application: ApplicationUrls, requested: string | null | undefined): string {
  return `${application.origin}${safePath(application, requested) ?? "/"}`;
}

/** Path, query and fragment as browsers read them; undefined for anything outside the application. */
function safePath(
  { origin, basePath }: ApplicationUrls,
  requested: string | null | undefined,
): string | undefined {
  if (!requested?.startsWith("/") || !URL.canParse(requested, origin)) return undefined;
  // Parsed and serialised as browsers do: a backslash becomes a slash, tabs and line breaks disappear.
  const url = new URL(requested, origin);
  // `//host` is another origin, and `/.//host` becomes `//host` once its dots are resolved.
  if (url.origin !== origin || url.pathname.startsWith("//")) return undefined;
  // Signing in must not lead to signing out.
  const isFilterRoute = url.pathname === basePath || url.pathname.startsWith(`${basePath}/`);
  const path = `${url.pathname}${url.search}${url.hash}`;
  // The encoded length, as it is stored.
  return isFilterRoute || path.length > MAX_PATH_LENGTH ? undefined : path;
}

/** The path of the referring page, if it is one of the application. */
export function refererPath(application: ApplicationUrls, request: Request): string | undefined {
  const referer = request.headers.get("referer");
  if (referer === null || !URL.canParse(referer)) return undefined;
  const { origin, pathname, search } = new URL(referer);
  return origin === application.origin ? safePath(application, `${pathname}${search}`) : undefined;
}

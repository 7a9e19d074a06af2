/**
 * Middleware (`proxy.ts` from Next.js 16 on, `middleware.ts` before): it signs people in, renews sessions, and serves the routes under
 * `/signet`. Runs on Node and in the edge runtime.
 *
 * @module nextjs-middleware
 */
import { NextResponse } from "next/server";
import { signet } from "./signet.ts";

/** Options of `signetMiddleware`. */
export interface MiddlewareOptions {
  /**
   * Paths for everybody, with everything below those that end in `/*`; or a function. Pages there have `auth()` too. Default: none, so
   * that the `matcher` alone decides.
   */
  readonly publicPaths?: readonly string[] | ((path: string) => boolean);
}

/**
 * Who is not signed in is redirected to sign in; scripts get 401 with the address.
 * @example
 * export default signetMiddleware({ publicPaths: ["/", "/docs/*"] });
 * export const config = { matcher: ["/((?!_next/static|_next/image|favicon.ico).*)"] };
 */
export function signetMiddleware({
  publicPaths = [],
}: MiddlewareOptions = {}): (request: Request) => Promise<Response> {
  const isPublic =
    typeof publicPaths === "function" ? publicPaths : (path: string) => publicPaths.some(covers(path));
  return async (request) => {
    const { filter } = signet();
    const { pathname } = new URL(request.url);
    const result = await filter.authenticate(request, isPublic(pathname) ? { isOptional: true } : {});
    if (result.kind === "answer") return result.response;
    const headers = new Headers(request.headers);
    headers.set("cookie", withChanges(request.headers.get("cookie") ?? "", result.cookies));
    // What is rendered sees the renewed session, and the browser keeps it.
    const response = NextResponse.next({ request: { headers } });
    for (const cookie of result.cookies) response.headers.append("set-cookie", cookie);
    if (result.kind === "authenticated") response.headers.set("cache-control", "private, no-store");
    return response;
  };
}

const covers =
  (path: string) =>
  (pattern: string): boolean =>
    pattern.endsWith("/*")
      ? path === pattern.slice(0, -2) || path.startsWith(pattern.slice(0, -1))
      : path === pattern;

/** The cookies that the browser will have after the response. */
export function withChanges(cookie: string, changes: readonly string[]): string {
  const cookies = new Map<string, string>();
  for (const pair of cookie.split("; ")) {
    const at = pair.indexOf("=");
    if (at > 0) cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }
  for (const change of changes) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(change) ?? [];
    if (/; *Max-Age=0(?:;|$)/i.test(change)) cookies.delete(name);
    else cookies.set(name, value);
  }
  return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

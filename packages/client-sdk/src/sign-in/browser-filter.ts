/** A filter for browsers: handles its own routes, and authenticates or redirects every other request. */
import { withCookies } from "../cookies/cookie-header.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { builtInPage } from "./built-in-pages.ts";
import { finishLogin } from "./callback.ts";
import { currentSession } from "./current-session.ts";
import { logOut } from "./logout.ts";
import { mayStartLogin, requestKind } from "./request-kind.ts";
import { failure, json, respond, unauthorized } from "./responses.ts";
import { refererPath } from "./return-url.ts";
import { filterPaths, loginUrl, type SignIn } from "./sign-in.ts";

export function browserFilter<Session>(filterType: Filter["filterType"], signIn: SignIn<Session>): Filter {
  return {
    filterType,
    authenticate: async (request) => {
      const result = (await handleRoute(signIn, request)) ?? (await authenticate(signIn, request));
      if (result.kind === "answer" && result.error) signIn.onError(result.error);
      return result;
    },
  };
}

/** Only the path of the URL is used: its host comes from the caller. */
async function handleRoute<Session>(
  signIn: SignIn<Session>,
  request: Request,
): Promise<FilterResult | undefined> {
  const { method } = request;
  const paths = filterPaths(signIn.basePath);
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === paths.login) {
    if (method !== "GET") return methodNotAllowed("GET");
    if (!mayStartLogin(request)) return respond(unauthorized(signIn, []));
    return signIn.startLogin(request, searchParams.get("return_to"));
  }
  if (pathname === paths.callback)
    return method === "GET" ? finishLogin(signIn, request) : methodNotAllowed("GET");
  if (pathname === paths.logout)
    return method === "GET" || method === "POST" ? logOut(signIn, request) : methodNotAllowed("GET", "POST");
  if (pathname === paths.backChannelLogout && signIn.backChannelLogout)
    return method === "POST" ? signIn.backChannelLogout(request) : methodNotAllowed("POST");
  return undefined;
}

function methodNotAllowed(...allowed: readonly string[]): FilterResult {
  const body = { error: "method_not_allowed", error_description: `Use ${allowed.join(" or ")}.` };
  return respond(json(405, body, { allow: allowed.join(", ") }));
}

async function authenticate<Session>(signIn: SignIn<Session>, request: Request): Promise<FilterResult> {
  const current = await currentSession(signIn, request);
  if (current.kind === "active") {
    const principal = signIn.principalOf(current.session);
    return { kind: "authenticated", principal, cookies: current.cookies };
  }
  if (current.kind === "unavailable")
    return failure(signIn, request, current.error, { returnTo: requestPath(request) });
  if (signIn.isOptional) return { kind: "anonymous", cookies: current.cookies };
  return requireLogin(signIn, request, current.cookies);
}

async function requireLogin<Session>(
  signIn: SignIn<Session>,
  request: Request,
  cookies: readonly string[],
): Promise<FilterResult> {
  const kind = requestKind(request);
  if (kind === "navigation") return signIn.startLogin(request, requestPath(request), cookies);
  if (kind === "fetch" || kind === "prefetch") return respond(unauthorized(signIn, cookies));
  const returnTo = kind === "form" ? refererPath(signIn, request) : requestPath(request);
  const action = { label: "Sign in", address: loginUrl(signIn, returnTo), method: "get" } as const;
  const page = builtInPage(kind === "form" ? "not_saved" : "signed_out", action);
  return respond(withCookies(await signIn.showPage(page, request), cookies));
}

function requestPath(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `${pathname}${search}`;
}

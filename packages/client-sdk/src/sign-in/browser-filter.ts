/** A filter for browsers: handles its own routes, and authenticates or redirects every other request. */
import { withCookies } from "../cookies/cookie-header.ts";
import { SignetError } from "../errors.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { builtInPage } from "./built-in-pages.ts";
import { callbackParameters, finishLogin } from "./callback.ts";
import { currentSession, readSession } from "./current-session.ts";
import { logOut } from "./logout.ts";
import { mayStartLogin, requestKind } from "./request-kind.ts";
import { failure, json, respond, unauthorized } from "./responses.ts";
import { refererPath } from "./return-url.ts";
import { filterPaths, loginUrl, type SignIn } from "./sign-in.ts";

export function browserFilter<Session>(filterType: Filter["filterType"], signIn: SignIn<Session>): Filter {
  return {
    filterType,
    authenticate: async (request, { isOptional = signIn.isOptional } = {}) => {
      const result =
        (await handleRoute(signIn, request)) ?? (await authenticate({ ...signIn, isOptional }, request));
      if (result.kind === "answer" && result.error) signIn.onError(result.error);
      return result;
    },
    peek: async (request) => {
      const session = await readSession(signIn, request);
      if (!session || !signIn.isCurrent(session)) return undefined;
      // Unknown is no: nobody is let in.
      const hasEnded = await signIn.hasEnded(session).catch(() => true);
      return hasEnded ? undefined : signIn.principalOf(session);
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
  const misplaced = await misplacedCallback(signIn, request);
  if (misplaced) return failure(signIn, request, misplaced);
  if (signIn.isOptional) return { kind: "anonymous", cookies: current.cookies };
  return requireLogin(signIn, request, current.cookies);
}

/** The response to a sign-in of this browser at another path: a proxy adds or removes a prefix. It would be an endless loop. */
async function misplacedCallback<Session>(
  signIn: SignIn<Session>,
  request: Request,
): Promise<SignetError | undefined> {
  const { pathname, searchParams } = new URL(request.url);
  if (!["code", "error", "response"].some((name) => searchParams.has(name))) return undefined;
  const parameter = await callbackParameters(signIn, request).catch(() => undefined);
  const state = parameter?.("state");
  if (state === undefined) return undefined;
  if ((await signIn.attempts.find(request, state)) === undefined) return undefined;
  const description = "The response came to another path than it was asked for.";
  return new SignetError(
    "login_state",
    `${description} ${pathname}, not ${filterPaths(signIn.basePath).callback}: a proxy in front changes paths. ` +
      "Have it pass them on as they are, and set basePath (SIGNET_BASE_PATH) with the application's prefix, as /prefix/signet.",
    { description },
  );
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

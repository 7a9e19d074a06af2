/** The frame of a filter that signs people in with a browser: its own paths, and what becomes of every other request. */
import type { Filter, FilterResult } from "../filter.ts";
import { answered, frontPage, json, refusal, unauthorized, withCookies } from "./answers.ts";
import { finishLogin } from "./callback.ts";
import { logOut } from "./logout.ts";
import type { SignInMechanism } from "./mechanism.ts";
import { mayBeginSignIn, requestKind } from "./request-kind.ts";
import { refererPath } from "./return-to.ts";
import { loginAddressOf, ownPathsOf, type SignInContext } from "./sign-in-context.ts";

export function browserFilter<Session>(
  filterType: Filter["filterType"],
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
): Filter {
  return {
    filterType,
    authenticate: async (request) => {
      const own = ownAnswer(context, mechanism, request);
      const result = await (own ?? authenticate(context, mechanism, request));
      if (result.kind === "answer" && result.error) context.onError(result.error);
      return result;
    },
  };
}

type OwnHandler = (request: Request) => Promise<FilterResult>;

/** Only the path is read of the request's address: its host is what the caller says. */
function ownAnswer<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> | undefined {
  const paths = ownPathsOf(context.basePath);
  const signOut: OwnHandler = (one) => logOut(context, mechanism, one);
  const { backChannelLogout } = mechanism;
  const handlers = new Map<string, ReadonlyMap<string, OwnHandler>>([
    [paths.login, new Map([["GET", (one) => logIn(context, mechanism, one)]])],
    [paths.callback, new Map([["GET", (one) => finishLogin(context, mechanism, one)]])],
    [
      paths.logout,
      new Map([
        ["GET", signOut],
        ["POST", signOut],
      ]),
    ],
    ...(backChannelLogout
      ? [[paths.backChannelLogout, new Map([["POST", backChannelLogout]])] as const]
      : []),
  ]);
  const methods = handlers.get(new URL(request.url).pathname);
  if (!methods) return undefined;
  const handler = methods.get(request.method);
  return handler ? handler(request) : Promise.resolve(wrongMethod([...methods.keys()]));
}

async function logIn<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> {
  if (!mayBeginSignIn(request)) return answered(unauthorized(context, []));
  return mechanism.startLogin(request, new URL(request.url).searchParams.get("return_to"));
}

function wrongMethod(allowed: readonly string[]): FilterResult {
  const body = { error: "method_not_allowed", error_description: `Use ${allowed.join(" or ")}.` };
  return answered(json(405, body, { allow: allowed.join(", ") }));
}

async function authenticate<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> {
  const current = await mechanism.currentSession(request);
  if (current.kind === "live") {
    const principal = mechanism.principalOf(current.session);
    return { kind: "authenticated", principal, cookies: current.cookies };
  }
  if (current.kind === "unavailable")
    return refusal(context, request, current.error, { returnTo: pathOf(request) });
  if (context.isOptional) return { kind: "anonymous", cookies: current.cookies };
  return askToSignIn(context, mechanism, request, current.cookies);
}

async function askToSignIn<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
  cookies: readonly string[],
): Promise<FilterResult> {
  const kind = requestKind(request);
  if (kind === "navigation") return mechanism.startLogin(request, pathOf(request), cookies);
  if (kind === "call" || kind === "prefetch") return answered(unauthorized(context, cookies));
  const isForm = kind === "submission";
  const returnTo = isForm ? refererPath(context, request) : pathOf(request);
  const action = { label: "Sign in", address: loginAddressOf(context, returnTo), method: "get" } as const;
  const page = frontPage(isForm ? "not_saved" : "signed_out", action);
  return answered(withCookies(await context.showPage(page, request), cookies));
}

function pathOf(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `${pathname}${search}`;
}

/** The filter UserFederated: a web application of the legacy federation (specification, "Legacy federation"). */
import { checkConfiguration, type SignetConfiguration } from "../configuration.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { answered, frontPage, json, refusal, unauthorized, withCookies } from "../oauth-federated/answers.ts";
import { loginAddressOf } from "../oauth-federated/federated-context.ts";
import { mayBeginSignIn, requestKind } from "../oauth-federated/request-kind.ts";
import { refererPath } from "../oauth-federated/return-to.ts";
import { principalOfLegacyUser } from "../principal.ts";
import { finishLogin } from "./callback.ts";
import { currentSession } from "./current-session.ts";
import {
  createFederationContext,
  type FederationContext,
  ownPathsOf,
  type UserFederatedOptions,
} from "./federation-context.ts";
import { logOut } from "./logout.ts";
import { startLogin } from "./start-login.ts";

/**
 * Protects a web application by the legacy federation: who is not signed in goes to the service's login page and comes back
 * with a session key, which the service is asked about. The key is kept in an encrypted cookie, and the service is asked again
 * every `revalidateAfterSeconds` (default 60), so that signing out elsewhere counts here. While the service cannot be reached, a
 * session goes on for one such interval more; then requests get 503, and go on where they were when the service is back.
 *
 * The filter answers three paths below `basePath` (default `/signet`):
 *
 * - `GET /signet/login?return_to=/page` begins a sign-in, e.g. from a link on a page that is open to everybody (`isOptional`).
 * - `GET /signet/callback` takes the key. Register `{baseUrl}/signet/callback` as a return URL of the application.
 * - `POST /signet/logout` ends the key and the session that it was made in, then goes to `afterLogoutPath`. A link to it works
 *   from pages of the application; for everybody else it asks first. A script gets `{"logout_url"}`.
 *
 * With `systemAccountPublicKey` and `systemAccountSecretKey` the calls to the service are signed, as applications with
 * `requireSignedKeyCalls` demand.
 *
 * A key of another application, or one that was not made by a sign-in, is refused, whoever holds it.
 *
 * @throws SignetError `configuration`, with every reason
 * @example
 * const filter = userFederated({
 *   filterType: "UserFederated",
 *   federationServer: "https://id.example.com",
 *   applicationId: "0198c7a3-…",
 *   baseUrl: "https://app.example.com",
 *   cookieSecrets: ["…"],
 * });
 * const result = await filter.authenticate(request);
 * if (result.kind === "answer") return result.response;
 */
export function userFederated(
  configuration: SignetConfiguration,
  options: UserFederatedOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "UserFederated" });
  const context = createFederationContext(settings, options);
  return {
    filterType: "UserFederated",
    authenticate: async (request) => {
      const result = await (ownAnswer(context, request) ?? authenticate(context, request));
      if (result.kind === "answer" && result.error) context.onError(result.error);
      return result;
    },
  };
}

type OwnHandler = (context: FederationContext, request: Request) => Promise<FilterResult>;

/** Only the path is read of the request's address: its host is what the caller says. */
function ownAnswer(context: FederationContext, request: Request): Promise<FilterResult> | undefined {
  const { pathname } = new URL(request.url);
  const paths = ownPathsOf(context.basePath);
  const handlers: Readonly<Record<string, Readonly<Record<string, OwnHandler>>>> = {
    [paths.login]: { GET: logIn },
    [paths.callback]: { GET: finishLogin },
    [paths.logout]: { GET: logOut, POST: logOut },
  };
  const methods = handlers[pathname];
  if (!methods) return undefined;
  // Own members alone: a method is any word, `constructor` too (RFC 9110 §9.1).
  const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
  return handler ? handler(context, request) : Promise.resolve(wrongMethod(Object.keys(methods)));
}

async function logIn(context: FederationContext, request: Request): Promise<FilterResult> {
  if (!mayBeginSignIn(request)) return answered(unauthorized(context, []));
  return startLogin(context, request, new URL(request.url).searchParams.get("return_to"));
}

function wrongMethod(allowed: readonly string[]): FilterResult {
  const body = { error: "method_not_allowed", error_description: `Use ${allowed.join(" or ")}.` };
  return answered(json(405, body, { allow: allowed.join(", ") }));
}

async function authenticate(context: FederationContext, request: Request): Promise<FilterResult> {
  const current = await currentSession(context, request);
  if (current.kind === "live") {
    const { user, sessionKey } = current.session;
    const { applicationId } = context;
    const principal = principalOfLegacyUser({ user, sessionKey, applicationId });
    return { kind: "authenticated", principal, cookies: current.cookies };
  }
  if (current.kind === "unavailable")
    return refusal(context, request, current.error, { returnTo: pathOf(request) });
  if (context.isOptional) return { kind: "anonymous", cookies: current.cookies };
  return askToSignIn(context, request, current.cookies);
}

async function askToSignIn(
  context: FederationContext,
  request: Request,
  cookies: readonly string[],
): Promise<FilterResult> {
  const kind = requestKind(request);
  if (kind === "navigation") return startLogin(context, request, pathOf(request), cookies);
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

/** The filter OAuthFederated: a web application whose users sign in at the provider (specification, "OAuth 2.0 federated login"). */
import { checkConfiguration, type SignetConfiguration } from "../configuration.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { answered, frontPage, json, refusal, unauthorized, withCookies } from "./answers.ts";
import { backChannelLogout } from "./back-channel-logout.ts";
import { finishLogin } from "./callback.ts";
import { createFederatedContext } from "./create-federated-context.ts";
import { currentSession } from "./current-session.ts";
import { type FederatedContext, loginAddressOf, ownPathsOf } from "./federated-context.ts";
import { principalOfSession } from "./federated-session.ts";
import { logOut } from "./logout.ts";
import type { OAuthFederatedOptions } from "./oauth-federated-options.ts";
import { mayBeginSignIn, requestKind } from "./request-kind.ts";
import { refererPath } from "./return-to.ts";
import { startLogin } from "./start-login.ts";

/**
 * Protects a web application: who is not signed in goes to the provider and comes back to the page that was asked for. The
 * session is kept in an encrypted cookie and refreshed by itself.
 *
 * The filter answers four paths below `basePath` (default `/signet`):
 *
 * - `GET /signet/login?return_to=/page` begins a sign-in, e.g. from a link on a page that is open to everybody (`isOptional`).
 * - `GET /signet/callback` takes the provider's answer. Register `{baseUrl}/signet/callback` as a redirect URI.
 * - `POST /signet/logout` signs out here and at the provider, then goes to `afterLogoutPath`. Register
 *   `{baseUrl}{afterLogoutPath}` as a post-logout redirect URI. A link to it works from pages of the application; for everybody
 *   else it asks first. A script gets `{"logout_url"}` to send its page to.
 * - `POST /signet/back-channel-logout` is told by the provider that a session has ended elsewhere.
 *
 * Everything else: with a session the request goes on, and the result has the principal. Without one, a page that a browser
 * goes to is answered with a redirect, a form that was sent with a page that says so (it is not sent again), and a script with
 * 401 and `{"error": "login_required", "login_url"}`. With `isOptional` all of these go on as anonymous.
 *
 * ID tokens are verified with the provider's keys, or with the pinned ones of its signing pool. Userinfo is fetched from the
 * provider for the same `sub`; it is not signed, and never replaces a claim of the ID token.
 *
 * @throws SignetError `configuration`, with every reason
 * @example
 * const filter = oauthFederated({
 *   filterType: "OAuthFederated",
 *   federationServer: "https://id.example.com",
 *   oauthOrganisationId: "0198c7a2-…",
 *   applicationId: "0198c7a3-…",
 *   oauthClientSecret: "sgn_cs_…",
 *   baseUrl: "https://app.example.com",
 *   cookieSecrets: ["…"],
 * });
 * const result = await filter.authenticate(request);
 * if (result.kind === "answer") return result.response;
 */
export function oauthFederated(
  configuration: SignetConfiguration,
  options: OAuthFederatedOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "OAuthFederated" });
  const context = createFederatedContext(settings, options);
  return {
    filterType: "OAuthFederated",
    authenticate: async (request) => {
      const result = await (ownAnswer(context, request) ?? authenticate(context, request));
      if (result.kind === "answer" && result.error) context.onError(result.error);
      return result;
    },
  };
}

type OwnHandler = (context: FederatedContext, request: Request) => Promise<FilterResult>;

/** Only the path is read of the request's address: its host is what the caller says. */
function ownAnswer(context: FederatedContext, request: Request): Promise<FilterResult> | undefined {
  const { pathname } = new URL(request.url);
  const paths = ownPathsOf(context.basePath);
  const handlers: Readonly<Record<string, Readonly<Record<string, OwnHandler>>>> = {
    [paths.login]: { GET: logIn },
    [paths.callback]: { GET: finishLogin },
    [paths.logout]: { GET: logOut, POST: logOut },
    [paths.backChannelLogout]: { POST: backChannelLogout },
  };
  const methods = handlers[pathname];
  if (!methods) return undefined;
  // Own members alone: a method is any word, `constructor` too (RFC 9110 §9.1).
  const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
  return handler ? handler(context, request) : Promise.resolve(wrongMethod(Object.keys(methods)));
}

async function logIn(context: FederatedContext, request: Request): Promise<FilterResult> {
  if (!mayBeginSignIn(request)) return answered(unauthorized(context, []));
  return startLogin(context, request, new URL(request.url).searchParams.get("return_to"));
}

function wrongMethod(allowed: readonly string[]): FilterResult {
  const body = { error: "method_not_allowed", error_description: `Use ${allowed.join(" or ")}.` };
  return answered(json(405, body, { allow: allowed.join(", ") }));
}

async function authenticate(context: FederatedContext, request: Request): Promise<FilterResult> {
  const current = await currentSession(context, request);
  if (current.kind === "live") {
    const principal = principalOfSession(current.session, context.clientId);
    return { kind: "authenticated", principal, cookies: current.cookies };
  }
  if (current.kind === "unavailable")
    return refusal(context, request, current.error, { returnTo: pathOf(request) });
  if (context.isOptional) return { kind: "anonymous", cookies: current.cookies };
  return askToSignIn(context, request, current.cookies);
}

async function askToSignIn(
  context: FederatedContext,
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

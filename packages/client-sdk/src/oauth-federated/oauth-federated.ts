/** The filter OAuthFederated: users of a web application sign in at the provider (specification, "OAuth 2.0 federated login"). */
import { decodeJwt } from "jose";
import { callApplication } from "../application-callbacks.ts";
import { checkConfiguration } from "../configuration/check-configuration.ts";
import type { OAuthFederatedConfiguration } from "../configuration/settings.ts";
import { SignetError } from "../errors.ts";
import type { Filter } from "../filter.ts";
import type { Principal } from "../principal.ts";
import { isAllowedUrl } from "../provider/http.ts";
import { sendWithToken } from "../security-profile/send-with-token.ts";
import { openSignedResponse } from "../security-profile/signed-response.ts";
import { browserFilter } from "../sign-in/browser-filter.ts";
import { hasEnded, rememberEnd } from "../sign-in/logout-memory.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import { backChannelLogout } from "./back-channel-logout.ts";
import {
  createFederatedContext,
  type FederatedContext,
  type OAuthFederatedOptions,
} from "./federated-context.ts";
import { type FederatedSession, idTokenHint, parseSession, principalOfSession } from "./federated-session.ts";
import { finishLogin, startLogin } from "./login.ts";
import { revokeRefreshToken } from "./provider-calls.ts";
import { renewSession } from "./refresh.ts";
import { atSession, isStillAccepted } from "./session-organisation.ts";

/**
 * Protects a web application: users sign in at the provider and return to the page they requested. The session is stored in an
 * encrypted cookie and refreshed automatically.
 *
 * The filter handles four routes under `basePath` (default `/signet`):
 *
 * - `GET /signet/login?return_to=/page` starts a sign-in, e.g. from a link on a public page (`isOptional`).
 * - `GET /signet/callback` receives the provider's response. Register `{baseUrl}/signet/callback` as a redirect URI.
 * - `POST /signet/logout` signs out here and at the provider, then continues at `afterLogoutPath`. Register
 *   `{baseUrl}{afterLogoutPath}` as a post-logout redirect URI. Links to it work from pages of the application; from anywhere
 *   else the user is asked first. A script gets `{"logout_url"}` to navigate to.
 * - `POST /signet/back-channel-logout` receives the provider's logout notifications.
 *
 * Any other request with a session continues with its principal. Without a session, a page navigation is redirected, a submitted
 * form gets a page saying so (it isn't resubmitted), and a script gets 401 with `{"error": "login_required", "login_url"}`. With
 * `isOptional` all of these continue as anonymous.
 *
 * With `organisations`, a sign-in begins at the service's common entry, where the user's organisation is found, or with
 * `GET /signet/login?organisation={id}` at one organisation. `user.organisationId` says whose session it is; of an organisation that
 * is no longer accepted, sessions end with their next request.
 *
 * ID tokens are verified with the provider's keys, or with the pinned keys of its signing pool. Userinfo is fetched for the same
 * `sub`; it isn't signed and never replaces a claim of the ID token. With a signing pool it counts for nothing: user, roles,
 * organisation, scopes and claims come from signed tokens alone, and what the service says beside them is in
 * `unsignedUserinfo` and `unsignedScopes`.
 * @param configuration as in the example of `createFilter`
 * @throws SignetError `configuration`, with every problem in `reasons`
 * @example
 * const filter = oauthFederated(configurationFromEnvironment(process.env));
 * const result = await filter.authenticate(request);
 * if (result.kind === "answer") return result.response;
 */
export function oauthFederated(
  configuration: OAuthFederatedConfiguration,
  options: OAuthFederatedOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "OAuthFederated" });
  const context = createFederatedContext(settings, options);
  const signIn: SignIn<FederatedSession> = {
    ...context,
    startLogin: (request, returnTo, cookies) => startLogin(context, request, returnTo, cookies),
    finishLogin: (attempt, parameter) => finishLogin(context, attempt, parameter),
    renew: (session) => renewSession(atSession(context, session), session),
    parseSession: (value) => parseSession(value, context.party),
    isCurrent: ({ endsAt }) => context.clock() < endsAt,
    openResponse: context.security.requestSigner
      ? (query) => openSignedResponse(query("response"), context)
      : undefined,
    principalOf: (session) => principalOfSession(session, { ...context, fetchOf: fetchOf(context) }),
    hasEnded: async (session) =>
      !(await isStillAccepted(context, session)) || hasSessionEnded(atSession(context, session), session),
    rememberEnd: ({ id }) => rememberEnd(context, id),
    endAtProvider: (session) => endAtProvider(atSession(context, session), session),
    backChannelLogout: (request) => backChannelLogout(context, request),
  };
  return browserFilter("OAuthFederated", signIn);
}

/** Only tokens that are bound to something: their use takes more than a header. */
function fetchOf(context: FederatedContext): ((session: FederatedSession) => Principal["fetch"]) | undefined {
  const { security, dpopOf, environment, send } = context;
  if (security.profile === "none") return undefined;
  return ({ accessToken, dpopKey }) =>
    async (target, init = {}) => {
      const url = new URL(target);
      url.hash = "";
      if (!isAllowedUrl(url.href, environment))
        throw new SignetError("configuration", "Tokens are only sent to encrypted URLs (https).");
      return sendWithToken({ accessToken, dpop: dpopOf(dpopKey), fetch: send ?? fetch }, url, init);
    };
}

/** @throws SignetError if unknown: then nobody is let in */
async function hasSessionEnded(
  { memory, issuer }: FederatedContext,
  { id, sid, since, idToken }: FederatedSession,
): Promise<boolean> {
  const ids = { id, sid, sub: decodeJwt(idToken).sub ?? "", since };
  return callApplication("The logout memory", () => hasEnded(memory, issuer, ids));
}

/** OpenID Connect RP-Initiated Logout 1.0 §2; continues at the application if the provider has no logout page. */
async function endAtProvider(context: FederatedContext, session: FederatedSession): Promise<string> {
  const { refreshToken } = session;
  const { provider, clientId, afterLogout, environment, onError } = context;
  if (refreshToken !== undefined) await revokeRefreshToken(context, refreshToken).catch(onError);
  const metadata = await provider.metadata().catch((error: Error) => onError(error));
  const endpoint = metadata?.end_session_endpoint;
  if (endpoint === undefined || !isAllowedUrl(endpoint, environment)) return afterLogout;
  const url = new URL(endpoint);
  const hint = idTokenHint(session);
  if (hint !== undefined) url.searchParams.set("id_token_hint", hint);
  url.searchParams.set("client_id", clientId);
  url.searchParams.set("post_logout_redirect_uri", afterLogout);
  return url.href;
}

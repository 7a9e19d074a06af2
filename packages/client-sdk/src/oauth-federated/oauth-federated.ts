/** The filter OAuthFederated: a web application whose users sign in at the provider (specification, "OAuth 2.0 federated login"). */
import { decodeJwt } from "jose";
import { checkConfiguration, type SignetConfiguration } from "../configuration.ts";
import type { Filter } from "../filter.ts";
import { browserFilter } from "../sign-in/browser-filter.ts";
import type { SignInMechanism } from "../sign-in/mechanism.ts";
import { backChannelLogout } from "./back-channel-logout.ts";
import { finishLogin } from "./callback.ts";
import { createFederatedContext } from "./create-federated-context.ts";
import { currentSession, isOver, rememberEnd } from "./current-session.ts";
import type { FederatedContext } from "./federated-context.ts";
import { type FederatedSession, principalOfSession, sessionOf } from "./federated-session.ts";
import { logoutAddress } from "./logout-address.ts";
import type { OAuthFederatedOptions } from "./oauth-federated-options.ts";
import { startLogin } from "./start-login.ts";
import { revokeRefreshToken } from "./token-endpoint.ts";

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
  return browserFilter("OAuthFederated", context, mechanismOf(context));
}

function mechanismOf(context: FederatedContext): SignInMechanism<FederatedSession> {
  return {
    startLogin: (request, returnTo, cookies) => startLogin(context, request, returnTo, cookies),
    finishLogin: (attempt, parameter) => finishLogin(context, attempt, parameter),
    currentSession: (request) => currentSession(context, request),
    sessionOf: (value) => sessionOf(value, context.party),
    principalOf: (session) => principalOfSession(session, context.clientId),
    isSamePerson: (one, other) => decodeJwt(one.idToken).sub === decodeJwt(other.idToken).sub,
    isOver: (session) => isOver(context, session),
    rememberEnd: (session) => rememberEnd(context, session),
    endElsewhere: async ({ refreshToken }) => {
      if (refreshToken !== undefined) await revokeRefreshToken(context, refreshToken);
    },
    afterLogoutOf: (session) => logoutAddress(context, session),
    backChannelLogout: (request) => backChannelLogout(context, request),
  };
}

/** The filter UserFederated: a web application of the legacy federation (specification, "Legacy federation"). */
import { checkConfiguration, type SignetConfiguration } from "../configuration.ts";
import type { Filter } from "../filter.ts";
import { principalOfLegacyUser } from "../principal.ts";
import { browserFilter } from "../sign-in/browser-filter.ts";
import type { SignInMechanism } from "../sign-in/mechanism.ts";
import { finishLogin } from "./callback.ts";
import { currentSession, isSignedOut, rememberEnd } from "./current-session.ts";
import { endSessionKey } from "./end-session-key.ts";
import {
  createFederationContext,
  type FederationContext,
  type UserFederatedOptions,
} from "./federation-context.ts";
import { type LegacySession, sessionOf } from "./legacy-session.ts";
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
  return browserFilter("UserFederated", context, mechanismOf(context));
}

function mechanismOf(context: FederationContext): SignInMechanism<LegacySession> {
  const { applicationId, afterLogout } = context;
  return {
    startLogin: (request, returnTo, cookies) => startLogin(context, request, returnTo, cookies),
    finishLogin: (_attempt, parameter) => finishLogin(context, parameter),
    currentSession: (request) => currentSession(context, request),
    sessionOf: (value) => sessionOf(value, context.party),
    principalOf: ({ user, sessionKey }) => principalOfLegacyUser({ user, sessionKey, applicationId }),
    isSamePerson: (one, other) => one.user.PermId === other.user.PermId,
    isOver: (session) => isSignedOut(context, session),
    rememberEnd: (session) => rememberEnd(context, session),
    endElsewhere: (session) => endSessionKey(context, session),
    afterLogoutOf: async () => afterLogout,
  };
}

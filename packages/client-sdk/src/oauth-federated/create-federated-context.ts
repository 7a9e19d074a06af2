/** Puts the filter's parts together. Nothing is fetched, and no key derived, before the first request. */
import type { Settings } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import { defaultAuthentication } from "../grants/grant-settings.ts";
import { createProvider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { createSignInContext } from "../sign-in/sign-in-context.ts";
import { createSingleFlight } from "../sign-in/single-flight.ts";
import { keySourceOf } from "../tokens/key-source-of.ts";
import type { FederatedContext, RefreshOutcome } from "./federated-context.ts";
import type { FederatedSession } from "./federated-session.ts";
import type { OAuthFederatedOptions } from "./oauth-federated-options.ts";
import { keepOutcomeMs, MOST_REFRESHES } from "./refresh.ts";
import { checkAuthorizationParameters } from "./start-login.ts";

/** For a page that is loaded again before its answer has come. */
const KEEP_LOGIN_MS = 60_000;

/** @throws SignetError `configuration` */
export function createFederatedContext(settings: Settings, options: OAuthFederatedOptions): FederatedContext {
  const { tokenIssuer: issuer, clientId, environment } = settings;
  if (issuer === undefined || clientId === undefined)
    throw new SignetError("configuration", "OAuthFederated needs a provider and a client id.");
  const { authorizationParameters = {} } = options;
  checkAuthorizationParameters(authorizationParameters);
  const maxAge = authorizationParameters["max_age"];
  const party = `${issuer} ${clientId}`;
  const signIn = createSignInContext(settings, options, { party, purpose: "oauth-session" });
  const { clock, onError } = signIn;
  const http = createHttp(options, { environment });
  const provider = createProvider({ issuer, http, clock, onError });
  return {
    ...signIn,
    ...{ provider, http, environment, issuer, clientId, authorizationParameters },
    keys: keySourceOf(settings, provider, options),
    authentication: options.clientAuthentication ?? defaultAuthentication(settings.clientSecret),
    isSovereign: settings.sovereign !== undefined,
    scope: settings.scopes.join(" "),
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    logins: createSingleFlight<FederatedSession>({
      clock,
      keepMs: () => KEEP_LOGIN_MS,
      most: MOST_REFRESHES,
    }),
    refreshes: createSingleFlight<RefreshOutcome>({
      clock,
      keepMs: (outcome) => keepOutcomeMs(outcome, clock()),
      most: MOST_REFRESHES,
    }),
  };
}

/** Puts the filter's parts together. Nothing is fetched, and no key derived, before the first request. */
import type { Settings } from "../configuration.ts";
import { createSealedCookie } from "../cookies/sealed-cookie.ts";
import { SignetError } from "../errors.ts";
import { defaultAuthentication } from "../grants/grant-settings.ts";
import { createProvider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { teller } from "../teller.ts";
import { keySourceOf } from "../tokens/key-source-of.ts";
import { type FederatedContext, type RefreshOutcome, SESSION_SECONDS } from "./federated-context.ts";
import type { FederatedSession } from "./federated-session.ts";
import { showFrontPage } from "./front-page.ts";
import { createLoginAttempts } from "./login-attempts.ts";
import { createLogoutMemory } from "./logout-memory.ts";
import type { OAuthFederatedOptions } from "./oauth-federated-options.ts";
import { keepOutcomeMs, MOST_REFRESHES } from "./refresh.ts";
import { createSingleFlight } from "./single-flight.ts";
import { checkAuthorizationParameters } from "./start-login.ts";

/** For a page that is loaded again before its answer has come. */
const KEEP_LOGIN_MS = 60_000;

/** @throws SignetError `configuration` */
export function createFederatedContext(settings: Settings, options: OAuthFederatedOptions): FederatedContext {
  const { tokenIssuer: issuer, clientId, baseUrl: origin, basePath, environment } = settings;
  if (issuer === undefined || clientId === undefined || origin === undefined)
    throw new SignetError("configuration", "OAuthFederated needs a provider, a client id and baseUrl.");
  const { clock = Date.now, authorizationParameters = {} } = options;
  const onError = teller(options.onError);
  checkAuthorizationParameters(authorizationParameters);
  const maxAge = authorizationParameters["max_age"];
  const http = createHttp(options, { environment });
  const provider = createProvider({ issuer, http, clock, onError });
  const party = `${issuer} ${clientId}`;
  const keptCookies = { secrets: settings.cookieSecrets, isSecure: origin.startsWith("https:"), clock };
  // Two filters of one application have two base paths: they do not take each other's cookies away.
  const name = basePath.slice(1).replaceAll("/", "!");
  return {
    provider,
    http,
    clock,
    onError,
    environment,
    issuer,
    clientId,
    party,
    origin,
    basePath,
    keys: keySourceOf(settings, provider, options),
    authentication: options.clientAuthentication ?? defaultAuthentication(settings.clientSecret),
    isOptional: settings.isOptional,
    isSovereign: settings.sovereign !== undefined,
    scope: settings.scopes.join(" "),
    afterLogout: `${origin}${settings.afterLogoutPath}`,
    authorizationParameters,
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    session: createSealedCookie({
      ...keptCookies,
      name: `${name}-session`,
      purpose: "oauth-session",
      lifetimeSeconds: SESSION_SECONDS,
    }),
    attempts: createLoginAttempts({ ...keptCookies, name: `${name}-login`, party }),
    memory: options.logoutMemory ?? createLogoutMemory({ clock }),
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
    showPage: pagesOf(options),
  };
}

function pagesOf({ showPage }: OAuthFederatedOptions): FederatedContext["showPage"] {
  if (!showPage) return (page) => showFrontPage(page);
  // A copy: cookies are added to it, and the headers of an answer that was fetched cannot be changed.
  return async (page, request) => {
    const shown = await showPage(page, request);
    return new Response(shown.body, shown);
  };
}

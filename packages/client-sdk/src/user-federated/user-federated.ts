/** The filter UserFederated: a web application of the legacy federation (specification, "Legacy federation"). */
import { checkConfiguration } from "../configuration/check-configuration.ts";
import type { Settings, UserFederatedConfiguration } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { principalOfLegacyUser } from "../principal.ts";
import { oauthErrorName } from "../provider/http.ts";
import { createServiceClient } from "../service-api/service-client.ts";
import { typedClient } from "../service-api/typed-client.ts";
import { browserFilter } from "../sign-in/browser-filter.ts";
import { redirect, respond } from "../sign-in/responses.ts";
import { returnUrl } from "../sign-in/return-url.ts";
import {
  type CallbackParameter,
  callbackUrl,
  createSignInContext,
  type SignIn,
  type SignInOptions,
} from "../sign-in/sign-in.ts";
import { createSingleFlight } from "../sign-in/single-flight.ts";
import {
  endSessionKey,
  hasSessionEnded,
  type LegacySession,
  parseSession,
  rememberSessionEnd,
  renewSession,
  type UserFederatedContext,
  validateSessionKey,
} from "./session-key.ts";

/** Options of `userFederated`. */
export interface UserFederatedOptions extends SignInOptions {
  /** `login` always asks for the password, even users who are signed in to another application. */
  readonly prompt?: "login" | "select_account";
}

/**
 * Protects a web application with the legacy federation: users sign in at the service and return with a session key, which the
 * service validates. The key is stored in an encrypted cookie and revalidated every `revalidateAfterSeconds` (default 60), so
 * that signing out elsewhere takes effect here. While the service is unreachable, sessions continue for one more interval; then
 * requests get 503 until the service is back.
 *
 * The filter handles three routes under `basePath` (default `/signet`):
 *
 * - `GET /signet/login?return_to=/page` starts a sign-in, e.g. from a link on a public page (`isOptional`).
 * - `GET /signet/callback` receives the key. Register `{baseUrl}/signet/callback` as a return URL of the application.
 * - `POST /signet/logout` ends the key and the session it was created in, then continues at `afterLogoutPath`. Links to it work
 *   from pages of the application; from anywhere else the user is asked first. A script gets `{"logout_url"}`.
 *
 * With `systemAccountPublicKey` and `systemAccountSecretKey`, calls to the service are signed, as applications with
 * `requireSignedKeyCalls` require.
 *
 * A key of another application, or one that was not created by a sign-in, is always rejected.
 * @param configuration `federationServer`, `applicationId`, `baseUrl` and `cookieSecrets`
 * @throws SignetError `configuration`, with every problem in `reasons`
 * @example
 * const filter = userFederated(configurationFromEnvironment(process.env));
 * const result = await filter.authenticate(request);
 * if (result.kind === "answer") return result.response;
 */
export function userFederated(
  configuration: UserFederatedConfiguration,
  options: UserFederatedOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "UserFederated" });
  const context = createContext(settings, options);
  const { applicationId, party, onError } = context;
  const signIn: SignIn<LegacySession> = {
    ...context,
    startLogin: (request, returnTo, cookies) => startLogin(context, request, returnTo, cookies),
    finishLogin: (_attempt, parameter) => finishLogin(context, parameter),
    renew: (session) => renewSession(context, session),
    parseSession: (value) => parseSession(value, party),
    // The service alone knows how long a session key lives.
    isCurrent: () => true,
    principalOf: ({ user, sessionKey }) => principalOfLegacyUser({ user, sessionKey, applicationId }),
    hasEnded: (session) => hasSessionEnded(context, session),
    rememberEnd: (session) => rememberSessionEnd(context, session),
    endAtProvider: async (session) => {
      await endSessionKey(context, session).catch(onError);
      return context.afterLogout;
    },
  };
  return browserFilter("UserFederated", signIn);
}

const MAX_VALIDATIONS = 10_000;
/** Somebody is waiting for a page. */
const retries = { attempts: 2, maxWaitMs: 1_000 };

function createContext(settings: Settings, options: UserFederatedOptions): UserFederatedContext {
  const { federationServer, applicationId, systemAccount, environment, revalidateAfterSeconds } = settings;
  if (federationServer === undefined || applicationId === undefined)
    throw configurationError("UserFederated needs federationServer and applicationId.");
  const party = `${federationServer} ${applicationId}`;
  const signIn = createSignInContext(settings, options, { party, purpose: "legacy-session" });
  const { clock } = signIn;
  const revalidateAfterMs = revalidateAfterSeconds * 1000;
  const service = createServiceClient({ federationServer, environment, systemAccount }, options, retries);
  return {
    ...signIn,
    ...{ federationServer, applicationId, revalidateAfterMs, prompt: options.prompt },
    service: typedClient(service),
    validations: createSingleFlight({ clock, keepMs: () => revalidateAfterMs, maxEntries: MAX_VALIDATIONS }),
  };
}

/** The return URL names the attempt, whose cookie only this browser has: otherwise a link could sign a user in as an attacker. */
export async function startLogin(
  context: UserFederatedContext,
  request: Request,
  returnTo: string | null | undefined,
  cookies: readonly string[] = [],
): Promise<FilterResult> {
  const { federationServer, applicationId, prompt } = context;
  const created = await context.attempts.create(request, returnUrl(context, returnTo));
  const callback = `${callbackUrl(context)}?${new URLSearchParams({ state: created.attempt.state })}`;
  const query = { appId: applicationId, returnUrl: callback, ...(prompt ? { prompt } : {}) };
  const url = `${federationServer}/federation/Login?${new URLSearchParams(query)}`;
  return respond(redirect(url, [...cookies, ...created.cookies]));
}

export async function finishLogin(
  context: UserFederatedContext,
  parameter: CallbackParameter,
): Promise<LegacySession> {
  const error = parameter("error");
  if (error !== undefined)
    throw new SignetError("provider_refused", "The service did not sign the user in.", {
      oauthError: oauthErrorName(error),
    });
  const key = parameter("service_key");
  if (key === undefined || !/^[\x21-\x7e]{1,200}$/.test(key))
    throw new SignetError("provider_answer", "The response has no session key.");
  return validateSessionKey(context, key);
}

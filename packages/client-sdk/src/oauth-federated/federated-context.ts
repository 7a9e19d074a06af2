/** Options and dependencies of the filter. Nothing is fetched, and no key derived, before the first request. */
import type { JWK } from "jose";
import { providerSetting } from "../configuration/properties.ts";
import type { Settings } from "../configuration/settings.ts";
import { configurationError, type SignetError } from "../errors.ts";
import type { ClientAuthentication } from "../grants/client-authentication.ts";
import { createProvider, type ProviderOptions } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { createOrganisationIssuers, type OrganisationIssuers } from "../provider/organisation-issuers.ts";
import { clientSecurity } from "../security-profile/client-security.ts";
import { createDpop, type Dpop, type ServerNonces } from "../security-profile/dpop.ts";
import { createSignInContext, type SignInOptions } from "../sign-in/sign-in.ts";
import { createSingleFlight } from "../sign-in/single-flight.ts";
import { createTrustedKeys } from "../sovereign/sovereign-key-source.ts";
import { createAuthorizationCheck } from "./authorization-check.ts";
import { commonEntry } from "./common-entry.ts";
import type { FederatedSession } from "./federated-session.ts";

/** Options of `oauthFederated`. */
export interface OAuthFederatedOptions extends SignInOptions {
  /** Client authentication. Default: `oauthClientCertificate`, `oauthClientKey` or `oauthClientSecret`; without one, a public client. */
  readonly clientAuthentication?: ClientAuthentication;
  /**
   * Additional parameters of the authorization request, e.g. `{ ui_locales: "da" }` or `{ max_age: "3600" }`, which is then
   * enforced. Parameters the filter sets (`state`, `scope`, `redirect_uri` …) are rejected at start.
   */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
}

/** The outcome of using a refresh token; `keepMs`: how long other requests with the same token get it too. */
export type RefreshOutcome = { readonly keepMs: number } & (
  | {
      readonly kind: "refreshed";
      readonly session: FederatedSession;
      /** Whether the provider issued another refresh token. */
      readonly isRotated: boolean;
    }
  /** The provider ended the session: the user signs in again. */
  | { readonly kind: "ended"; readonly error: SignetError }
  /** The session's status is unknown: retry later. */
  | { readonly kind: "failed"; readonly error: SignetError }
);

/** Of one issuer; with `organisations` that of the common entry, until an organisation is known (session-organisation.ts). */
export type FederatedContext = ReturnType<typeof createFederatedContext>;

/** For a callback that is reloaded before its response arrived. */
const KEEP_LOGIN_MS = 60_000;
/** Each entry is a few kilobytes. */
const MAX_ENTRIES = 5_000;

/** @throws SignetError `configuration` */
export function createFederatedContext(settings: Settings, options: OAuthFederatedOptions) {
  const { clientId, environment } = settings;
  const issuer = startingIssuer(settings);
  if (issuer === undefined || clientId === undefined)
    throw configurationError("OAuthFederated needs a provider and a client id.");
  const { authorizationParameters = {} } = options;
  checkAuthorizationParameters(authorizationParameters);
  const maxAge = authorizationParameters["max_age"];
  const party = `${issuer} ${clientId}`;
  // A session whose tokens no agent had to sign must not outlive the day on which that became required.
  const isSovereign = settings.sovereign !== undefined;
  const security = clientSecurity(settings, options);
  const purpose = sessionPurpose(isSovereign, security.profile);
  const signIn = createSignInContext(settings, options, { party, purpose });
  const { clock, onError } = signIn;
  const setting = providerSetting(settings);
  const runtime = security.fetch === undefined ? options : { ...options, fetch: security.fetch };
  const http = createHttp(runtime, { environment, setting });
  const nonces: ServerNonces = new Map();
  const organisations = acceptedIssuers(settings, { http, clock, onError, setting });
  const provider = organisations
    ? commonEntry(issuer)
    : createProvider({ issuer, http, clock, onError, setting });
  return {
    ...signIn,
    ...{ provider, http, environment, issuer, clientId, authorizationParameters, organisations },
    // Verify ID tokens and logout tokens: the provider's keys, or pinned ones.
    keys: createTrustedKeys(settings, provider, options),
    authentication: security.authentication,
    usesMtlsEndpoints: security.usesMtlsEndpoints,
    security,
    send: security.fetch,
    /** The key of a sign-in, with what servers have told this process. */
    dpopOf: (jwk: JWK | undefined): Dpop | undefined => jwk && createDpop(async () => jwk, nonces, clock),
    algorithm: settings.idTokenAlg,
    checkAuthorizationRequest: createAuthorizationCheck(settings, options),
    // The organisation's agents sign the tokens: unsigned data is not trusted.
    isSovereign,
    scope: settings.scopes.join(" "),
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    logins: createSingleFlight<FederatedSession>({
      clock,
      keepMs: () => KEEP_LOGIN_MS,
      maxEntries: MAX_ENTRIES,
    }),
    refreshes: createSingleFlight<RefreshOutcome>({
      clock,
      keepMs: ({ keepMs }) => keepMs,
      maxEntries: MAX_ENTRIES,
    }),
  };
}

/** Of the ID tokens; with `organisations` of the entry that all of them share. */
const startingIssuer = ({ tokenIssuer, organisations, federationServer }: Settings): string | undefined =>
  organisations === undefined ? tokenIssuer : `${federationServer}/oauth/common`;

function acceptedIssuers(
  { federationServer, organisations }: Settings,
  options: Omit<ProviderOptions, "issuer">,
): OrganisationIssuers | undefined {
  if (organisations === undefined || federationServer === undefined) return undefined;
  return createOrganisationIssuers({ ...options, federationServer, organisations });
}

/** Nor must a session of bearer tokens outlive the day on which a profile was set. */
function sessionPurpose(isSovereign: boolean, profile: string): string {
  const name = isSovereign ? "signed-oauth-session" : "oauth-session";
  return profile === "none" ? name : `${profile}-${name}`;
}

/** Parameters the filter sets itself: replaced ones would make the response uncheckable. */
const reservedParameters: ReadonlySet<string> = new Set(
  (
    "response_type response_mode client_id client_secret redirect_uri scope state nonce code_challenge " +
    "code_challenge_method request request_uri dpop_jkt"
  ).split(" "),
);

function checkAuthorizationParameters(parameters: Readonly<Record<string, string>>): void {
  const reasons = Object.entries(parameters).flatMap(([name, value]) => {
    if (reservedParameters.has(name)) return [`authorizationParameters.${name} is set by the filter.`];
    if (name === "prompt" && value.split(" ").includes("none"))
      return ["authorizationParameters.prompt can't be none: no one would ever see a sign-in page."];
    return name === "max_age" && !/^\d{1,9}$/.test(value)
      ? ["authorizationParameters.max_age must be a number of seconds."]
      : [];
  });
  if (reasons.length > 0) throw configurationError(...reasons);
}

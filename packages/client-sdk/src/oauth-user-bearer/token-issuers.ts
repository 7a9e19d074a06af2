/** Where an API's tokens come from: one issuer, or with `organisations` that of each token's organisation. */
import { errorReporter } from "../application-callbacks.ts";
import { providerSetting } from "../configuration/properties.ts";
import type { Settings } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import type { OAuthClient } from "../grants/oauth-client.ts";
import { createProvider, type Provider } from "../provider/discovery.ts";
import { createHttp, type Http } from "../provider/http.ts";
import { createOrganisationIssuers } from "../provider/organisation-issuers.ts";
import { type ClientSecurity, clientSecurity } from "../security-profile/client-security.ts";
import { createTrustedKeys } from "../sovereign/sovereign-key-source.ts";
import type { Claims } from "../tokens/claims.ts";
import { claimedIssuer, type KeySource } from "../tokens/verify-jwt.ts";
import { type BearerUserinfo, createBearerUserinfo } from "./bearer-userinfo.ts";
import type { Introspection } from "./introspection.ts";

export interface TokenIssuer {
  readonly issuer: string;
  /** Of an application of several organisations. */
  readonly organisationId?: string;
  readonly keys: KeySource;
  /** Present if every token is introspected. */
  readonly introspection?: Introspection | undefined;
  readonly userinfoOf?: BearerUserinfo | undefined;
}

type Timed = Runtime & { readonly clock: () => number };

/** @returns whose keys a token is to be verified with. It throws `token_issuer`, `token_organisation`, `token_malformed` */
export function createTokenIssuers(
  settings: Settings,
  options: Timed,
): (token: string) => Promise<TokenIssuer> {
  const security = settings.introspectTokens ? clientSecurity(settings, options) : undefined;
  const runtime = security?.fetch === undefined ? options : { ...options, fetch: security.fetch };
  const { environment, federationServer, organisations, tokenIssuer } = settings;
  const setting = providerSetting(settings);
  const http = createHttp(runtime, { environment, setting });
  const { clock, onError } = runtime;
  if (organisations === undefined) {
    if (tokenIssuer === undefined) throw configurationError("OAuthUserBearer needs an issuer.");
    const { issuer } = settings;
    const provider =
      issuer === undefined ? undefined : createProvider({ issuer, http, clock, onError, setting });
    const keys = createTrustedKeys(settings, provider, options);
    const from = { issuer: tokenIssuer, keys };
    const only = {
      ...from,
      ...createCalls(settings, { ...from, provider, http, server: issuer, runtime, security }),
    };
    return async () => only;
  }
  if (federationServer === undefined) throw configurationError("organisations needs federationServer.");
  const issuers = createOrganisationIssuers({
    federationServer,
    organisations,
    http,
    clock,
    onError,
    setting,
  });
  const made = new WeakMap<Provider, TokenIssuer>();
  return async (token) => {
    const { organisationId, issuer, provider } = await issuers.require(claimedIssuer(token));
    const known = made.get(provider);
    if (known) return known;
    const { keys } = provider;
    const from = { issuer, keys };
    const calls = createCalls(settings, { ...from, provider, http, server: issuer, runtime, security });
    const created = { ...from, organisationId, ...calls };
    made.set(provider, created);
    return created;
  };
}

interface CallSource extends Pick<TokenIssuer, "issuer" | "keys"> {
  readonly provider: Provider | undefined;
  /** Whom introspection asks: the organisation, whose pool may be the tokens' issuer. */
  readonly server: string | undefined;
  readonly http: Http;
  readonly runtime: Timed;
  readonly security: ClientSecurity | undefined;
}

function createCalls(settings: Settings, source: CallSource) {
  const { provider, http, keys, issuer: tokenIssuer, server: issuer, security } = source;
  const { clock, onError } = source.runtime;
  const signed = { keys, issuer: tokenIssuer, isSovereign: settings.sovereign !== undefined };
  const userinfoOf =
    provider && settings.fetchesUserinfo
      ? createBearerUserinfo({ provider, http, signed, clock, onError: errorReporter(onError) })
      : undefined;
  if (!security) return { userinfoOf };
  const { clientId } = settings;
  if (provider === undefined || issuer === undefined || clientId === undefined)
    throw configurationError("introspectTokens needs an issuer and a client id.");
  const { authentication, usesMtlsEndpoints } = security;
  const client: OAuthClient = { provider, http, issuer, clientId, authentication, usesMtlsEndpoints, clock };
  const isSigned = security.profile === "fapi2-message-signing";
  return { userinfoOf, introspection: { client, keys, isSigned, tokenIssuer } };
}

/**
 * The issuer has signed it, but only for its own organisation (`org_id`).
 * @throws SignetError `token_claim`
 */
export function requireOwnOrganisation(claims: Claims, { organisationId }: TokenIssuer): void {
  const named = claims["org_id"];
  if (organisationId === undefined || named === undefined || named === organisationId) return;
  throw new SignetError("token_claim", "The token names another organisation than its issuer (org_id).");
}

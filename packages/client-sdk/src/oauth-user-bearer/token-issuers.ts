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
import { createTrustedKeys } from "../sovereign/sovereign-key-source.ts";
import type { Claims } from "../tokens/claims.ts";
import { claimedIssuer, type KeySource } from "../tokens/verify-jwt.ts";
import { type BearerUserinfo, createBearerUserinfo } from "./bearer-userinfo.ts";

export interface TokenIssuer {
  readonly issuer: string;
  /** Of an application of several organisations. */
  readonly organisationId?: string;
  readonly keys: KeySource;
  /** Present if every token is introspected. */
  readonly introspectionClient?: OAuthClient | undefined;
  readonly userinfoOf?: BearerUserinfo | undefined;
}

type Timed = Runtime & { readonly clock: () => number };

/** @returns whose keys a token is to be verified with. It throws `token_issuer`, `token_organisation`, `token_malformed` */
export function createTokenIssuers(
  settings: Settings,
  runtime: Timed,
): (token: string) => Promise<TokenIssuer> {
  const { environment, federationServer, organisations, tokenIssuer } = settings;
  const setting = providerSetting(settings);
  const http = createHttp(runtime, { environment, setting });
  const { clock, onError } = runtime;
  if (organisations === undefined) {
    if (tokenIssuer === undefined) throw configurationError("OAuthUserBearer needs an issuer.");
    const { issuer } = settings;
    const provider =
      issuer === undefined ? undefined : createProvider({ issuer, http, clock, onError, setting });
    const keys = createTrustedKeys(settings, provider, runtime);
    const only = { issuer: tokenIssuer, keys, ...createCalls(settings, { provider, http, issuer, runtime }) };
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
    const calls = createCalls(settings, { provider, http, issuer, runtime });
    const created = { issuer, organisationId, keys, ...calls };
    made.set(provider, created);
    return created;
  };
}

function createCalls(
  settings: Settings,
  {
    provider,
    http,
    issuer,
    runtime: { clock, onError },
  }: {
    readonly provider: Provider | undefined;
    readonly http: Http;
    readonly issuer: string | undefined;
    readonly runtime: Timed;
  },
) {
  const { clientId, clientSecret } = settings;
  const userinfoOf =
    provider && settings.fetchesUserinfo
      ? createBearerUserinfo({ provider, http, clock, onError: errorReporter(onError) })
      : undefined;
  if (!settings.introspectTokens) return { userinfoOf };
  if (provider === undefined || issuer === undefined || clientId === undefined || clientSecret === undefined)
    throw configurationError("introspectTokens needs an issuer, a client id and a client secret.");
  const authentication = { method: "client_secret", secret: clientSecret } as const;
  const introspectionClient: OAuthClient = { provider, http, issuer, clientId, authentication, clock };
  return { userinfoOf, introspectionClient };
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

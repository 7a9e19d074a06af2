/** The filter OAuthUserBearer: an API that is called with access tokens (RFC 6750, RFC 9068), bound ones too. */
import { checkConfiguration, type Settings, type SignetConfiguration } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import type { Filter, FilterResult, RequestContext, Runtime } from "../filter.ts";
import type { ClientAuthentication } from "../grants/client-authentication.ts";
import { type Principal, principalOfClaims } from "../principal.ts";
import { createProvider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { teller } from "../teller.ts";
import { verifyAccessToken } from "../tokens/access-token.ts";
import { keySourceOf } from "../tokens/key-source-of.ts";
import { checkConfirmation } from "./confirmation.ts";
import { type BearerCredentials, credentialsOf } from "./credentials.ts";
import type { DpopNonces } from "./dpop-nonces.ts";
import { type IntrospectionDeps, requireActive } from "./introspection.ts";
import { refusalOf } from "./refusal.ts";
import { createReplayMemory, type ReplayMemory } from "./replay-memory.ts";
import { requireScopes } from "./scopes.ts";

/** What `oauthUserBearer` takes beside its configuration. */
export interface OAuthUserBearerOptions extends Runtime {
  /** Where DPoP proofs are remembered. Default: in this process; several instances of an API need one that they share. */
  readonly replayMemory?: ReplayMemory;
  /** Demands a nonce in DPoP proofs (RFC 9449 §9), see `createDpopNonces`. Default: none. */
  readonly dpopNonces?: DpopNonces;
}

/**
 * Protects an API: every request needs an access token in its Authorization header that the issuer has signed, that is made
 * out to `oauthAudience`, not expired, and has all `oauthScopes`. A token that is bound to a certificate or to a key
 * (`cnf`) needs the proof of it; for DPoP `baseUrl` must be configured, as proofs name the address that they are for.
 * Refused requests get 401 or 403 with `WWW-Authenticate`, or 503 when the provider cannot be asked.
 *
 * @throws SignetError `configuration`
 * @example
 * const filter = oauthUserBearer({
 *   filterType: "OAuthUserBearer",
 *   federationServer: "https://id.example.com",
 *   applicationId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15",
 *   oauthOrganisationId: "01998d70-0000-7d3a-8a4b-6f0e2d9c7b15",
 *   oauthAudience: "https://api.example.com",
 *   oauthScopes: "jobs:read",
 * });
 * Deno.serve(protect(filter, (request, principal) => Response.json(principal.subject)));
 */
export function oauthUserBearer(
  configuration: SignetConfiguration,
  options: OAuthUserBearerOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "OAuthUserBearer" });
  const verify = verifierOf(settings, options);
  const tell = teller(options.onError);
  return {
    filterType: "OAuthUserBearer",
    authenticate: async (request, context): Promise<FilterResult> => {
      const presented: { credentials?: BearerCredentials | undefined } = {};
      try {
        presented.credentials = credentialsOf(request);
        if (presented.credentials === undefined) {
          if (settings.isOptional) return { kind: "anonymous", cookies: [] };
          throw new SignetError("token_missing", "The request has no access token.");
        }
        const principal = await verify(request, presented.credentials, context);
        return { kind: "authenticated", principal, cookies: [] };
      } catch (error) {
        if (!(error instanceof SignetError)) throw error;
        tell(error);
        return { kind: "answer", response: await refuse(error, presented.credentials), error };
      }
    },
  };

  async function refuse(error: SignetError, credentials: BearerCredentials | undefined): Promise<Response> {
    return refusalOf(error, {
      ...(settings.audience === undefined ? {} : { realm: settings.audience }),
      scopes: settings.scopes,
      scheme: credentials?.scheme,
      acceptsDpop: settings.baseUrl !== undefined,
      nonce: error.oauthError === "use_dpop_nonce" ? await options.dpopNonces?.current() : undefined,
    });
  }
}

type Verify = (
  request: Request,
  credentials: BearerCredentials,
  context: RequestContext | undefined,
) => Promise<Principal>;

function verifierOf(settings: Settings, options: OAuthUserBearerOptions): Verify {
  const { tokenIssuer, audience, baseUrl } = settings;
  if (tokenIssuer === undefined || audience === undefined)
    throw new SignetError("configuration", "OAuthUserBearer needs an issuer and oauthAudience.");
  const { clock = Date.now, replayMemory: replays = createReplayMemory({ clock }), dpopNonces } = options;
  const { keys, introspection } = providerOf(settings, { ...options, clock });
  const { allowUntypedAccessTokens: allowUntyped } = settings;
  return async (request, credentials, context) => {
    const { token } = credentials;
    const claims = await verifyAccessToken(token, {
      ...{ keys, issuer: tokenIssuer, audience, allowUntyped, clock },
    });
    await checkConfirmation(claims, {
      credentials,
      clientCertificate: context?.clientCertificate,
      proof: request.headers.get("dpop"),
      dpop:
        baseUrl === undefined
          ? undefined
          : { method: request.method, url: addressOf(request, baseUrl), clock, replays, nonces: dpopNonces },
    });
    const principal = principalOfClaims({ authenticatedBy: "OAuthUserBearer", claims, accessToken: token });
    requireScopes(principal, ...settings.scopes);
    if (introspection !== undefined) await requireActive(introspection, token, claims);
    return principal;
  };
}

/** The path behind our own origin: the origin in the request is what its Host header says, which the caller writes. */
function addressOf(request: Request, baseUrl: string): string {
  return baseUrl + new URL(request.url).pathname;
}

function providerOf(settings: Settings, runtime: Runtime & { readonly clock: () => number }) {
  const { issuer, clientId, clientSecret, environment } = settings;
  const http = createHttp(runtime, { environment });
  const { clock, onError } = runtime;
  const provider = issuer === undefined ? undefined : createProvider({ issuer, http, clock, onError });
  const keys = keySourceOf(settings, provider, runtime);
  if (!settings.introspectTokens) return { keys, introspection: undefined };
  if (provider === undefined || issuer === undefined || clientId === undefined || clientSecret === undefined)
    throw new SignetError("configuration", "introspectTokens needs an issuer, a client id and its secret.");
  const authentication: ClientAuthentication = { method: "client_secret", secret: clientSecret };
  const introspection: IntrospectionDeps = { provider, http, issuer, clientId, authentication, clock };
  return { keys, introspection };
}

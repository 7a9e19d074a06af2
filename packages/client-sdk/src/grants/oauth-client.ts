/** Requests to the provider's endpoints with client authentication (RFC 6749 §3.2, RFC 7009, RFC 7662, RFC 8628). */
import { SignetError } from "../errors.ts";
import type { Provider } from "../provider/discovery.ts";
import type { Http, HttpAnswer } from "../provider/http.ts";
import { type ClientAuthentication, createClientCredentials } from "./client-authentication.ts";
import { parseTokenResponse, type TokenSet } from "./token-response.ts";

export interface OAuthClient {
  readonly provider: Pick<Provider, "metadata">;
  readonly http: Http;
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  readonly usesMtlsEndpoints?: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

type Endpoint =
  | "token_endpoint"
  | "device_authorization_endpoint"
  | "revocation_endpoint"
  | "introspection_endpoint";

/** OAuth errors are returned like any response. @throws SignetError `provider_…` */
export async function postAsClient(
  client: OAuthClient,
  endpoint: Endpoint,
  form: Readonly<Record<string, string | undefined>>,
): Promise<HttpAnswer> {
  const { provider, http, clientId, issuer, clock, authentication, usesMtlsEndpoints } = client;
  const metadata = await provider.metadata();
  // RFC 8705 §5: an endpoint without an alias is used as it is.
  const alias = usesMtlsEndpoints ? metadata.mtls_endpoint_aliases?.[endpoint] : undefined;
  const url = alias ?? metadata[endpoint];
  if (url === undefined) throw new SignetError("provider_answer", `The provider has no ${endpoint}.`);
  const credentials = await createClientCredentials(authentication, { clientId, issuer, metadata, clock });
  return http.form(url, { ...form, ...credentials.form }, credentials.headers);
}

/**
 * Requests tokens.
 *
 * @param grant the parameters of the grant
 * @throws SignetError `provider_refused` with `oauthError`, `provider_unreachable`, `provider_answer`
 */
export async function requestTokens(
  client: OAuthClient,
  grant: Readonly<Record<string, string | undefined>>,
): Promise<TokenSet> {
  // Taken before the request: a token must not seem to live longer than it does.
  const now = client.clock();
  return parseTokenResponse(await postAsClient(client, "token_endpoint", grant), now);
}

/** Requests to the provider's endpoints with client authentication (RFC 6749 §3.2, RFC 7009, RFC 7662, RFC 8628). */
import { SignetError } from "../errors.ts";
import type { Provider } from "../provider/discovery.ts";
import { type Http, type HttpAnswer, providerError } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";
import { type ClientAuthentication, createClientCredentials } from "./client-authentication.ts";

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

/** @throws SignetError `provider_refused` with `oauthError`, `provider_unreachable`, `provider_answer` */
export async function requestTokens(
  client: OAuthClient,
  grant: Readonly<Record<string, string | undefined>>,
): Promise<TokenSet> {
  // Taken before the request: a token must not seem to live longer than it does.
  const now = client.clock();
  return parseTokenResponse(await postAsClient(client, "token_endpoint", grant), now);
}

/** The tokens of a token endpoint's response (RFC 6749 §5.1). */
export interface TokenSet {
  /** Sent as `Authorization: Bearer`. Opaque to the client. */
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Undefined: as requested. */
  readonly scopes: readonly string[] | undefined;
  readonly refreshToken?: string;
  /** Not verified yet. */
  readonly idToken?: string;
}

/** RFC 6749 §5.1 only recommends `expires_in`; without it the token is soon requested again. */
const DEFAULT_LIFETIME_SECONDS = 60;
/** A mistaken number must not keep a token in use for years. */
const MAX_LIFETIME_SECONDS = 86_400;

/** @param now milliseconds, taken before the request */
export function parseTokenResponse(response: HttpAnswer, now: number): TokenSet {
  const { status, body } = response;
  if (status !== 200) throw providerError(response, "the token endpoint");
  if (!isRecord(body)) throw malformed("is not a JSON object");
  const { access_token, token_type, expires_in, scope, refresh_token, id_token } = body;
  if (!isText(access_token)) throw malformed("has no access_token");
  // RFC 6749 §7.1: a token of an unknown type must not be used.
  if (!isText(token_type) || token_type.toLowerCase() !== "bearer")
    throw malformed("has a token_type other than Bearer");
  return {
    accessToken: access_token,
    expiresAt: now + lifetimeSeconds(expires_in) * 1000,
    scopes: isText(scope) ? scope.split(" ").filter((name) => name !== "") : undefined,
    ...(isText(refresh_token) ? { refreshToken: refresh_token } : {}),
    ...(isText(id_token) ? { idToken: id_token } : {}),
  };
}

/** Some providers write the number as a string. */
function lifetimeSeconds(expiresIn: unknown): number {
  const seconds = isText(expiresIn) ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== "number" || !(seconds >= 0)) return DEFAULT_LIFETIME_SECONDS;
  return Math.min(seconds, MAX_LIFETIME_SECONDS);
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const malformed = (problem: string) =>
  new SignetError("provider_answer", `The token endpoint's response ${problem}.`);

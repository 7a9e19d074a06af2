/** Requests to the provider's endpoints with client authentication (RFC 6749 §3.2, RFC 7009, RFC 7662, RFC 8628, RFC 9126). */
import { SignetError } from "../errors.ts";
import type { Provider } from "../provider/discovery.ts";
import { type Http, type HttpAnswer, providerError } from "../provider/http.ts";
import type { Dpop } from "../security-profile/dpop.ts";
import { isRecord } from "../tokens/claims.ts";
import { type ClientAuthentication, createClientCredentials } from "./client-authentication.ts";

export interface OAuthClient {
  readonly provider: Pick<Provider, "metadata">;
  readonly http: Http;
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  readonly usesMtlsEndpoints?: boolean;
  /** The key that tokens are bound to (RFC 9449). */
  readonly dpop?: Dpop | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

type Endpoint =
  | "token_endpoint"
  | "device_authorization_endpoint"
  | "backchannel_authentication_endpoint"
  | "revocation_endpoint"
  | "introspection_endpoint"
  | "pushed_authorization_request_endpoint";

/** Where a proof counts; elsewhere the client authenticates alone (RFC 9449 §5, §10.1). */
const provenEndpoints: readonly Endpoint[] = ["token_endpoint", "pushed_authorization_request_endpoint"];

/** OAuth errors are returned like any response. @throws SignetError `provider_…` */
export async function postAsClient(
  client: OAuthClient,
  endpoint: Endpoint,
  form: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const { provider, http, clientId, issuer, clock, authentication, usesMtlsEndpoints, dpop } = client;
  const metadata = await provider.metadata();
  // RFC 8705 §5: an endpoint without an alias is used as it is.
  const alias = usesMtlsEndpoints ? metadata.mtls_endpoint_aliases?.[endpoint] : undefined;
  const url = alias ?? metadata[endpoint];
  if (url === undefined) throw new SignetError("provider_answer", `The provider has no ${endpoint}.`);
  // Made anew for a second attempt: an assertion counts once.
  const send = async (proof: Readonly<Record<string, string>>) => {
    const credentials = await createClientCredentials(authentication, { clientId, issuer, metadata, clock });
    const all = { ...headers, ...credentials.headers, ...proof };
    return http.form(url, { ...form, ...credentials.form }, all);
  };
  return dpop && provenEndpoints.includes(endpoint) ? dpop.send({ method: "POST", url }, send) : send({});
}

/** @throws SignetError `provider_refused` with `oauthError`, `provider_unreachable`, `provider_answer` */
export async function requestTokens(
  client: OAuthClient,
  grant: Readonly<Record<string, string | undefined>>,
): Promise<TokenSet> {
  // Taken before the request: a token must not seem to live longer than it does.
  const now = client.clock();
  return parseTokenResponse(await postAsClient(client, "token_endpoint", grant), now, tokenTypeOf(client));
}

/** The tokens of a token endpoint's response (RFC 6749 §5.1). */
export interface TokenSet {
  /** Sent as `Authorization: Bearer`, or `DPoP` with a proof. Opaque to the client. */
  readonly accessToken: string;
  /** `DPoP`: bound to a key, whose proof each request needs (RFC 9449 §7). Absent: Bearer. */
  readonly tokenType?: "DPoP";
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

/** A client that proves its key wants tokens that are bound to it, and nothing less. */
export const tokenTypeOf = ({ dpop }: Pick<OAuthClient, "dpop">): "Bearer" | "DPoP" =>
  dpop ? "DPoP" : "Bearer";

/** @param now milliseconds, taken before the request. @param type that the tokens must have */
export function parseTokenResponse(
  response: HttpAnswer,
  now: number,
  type: "Bearer" | "DPoP" = "Bearer",
): TokenSet {
  const { status, body } = response;
  if (status !== 200) throw providerError(response, "the token endpoint");
  if (!isRecord(body)) throw malformed("is not a JSON object");
  const { access_token, token_type, expires_in, scope, refresh_token, id_token } = body;
  if (!isText(access_token)) throw malformed("has no access_token");
  // RFC 6749 §7.1: a token of an unknown type must not be used.
  if (!isText(token_type) || token_type.toLowerCase() !== type.toLowerCase())
    throw malformed(`has a token_type other than ${type}`);
  return {
    accessToken: access_token,
    ...(type === "DPoP" ? { tokenType: type } : {}),
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

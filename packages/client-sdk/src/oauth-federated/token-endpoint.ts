/** Calls of the token endpoint (RFC 6749 §3.2) and of the revocation endpoint (RFC 7009), as this client. */
import { SignetError } from "../errors.ts";
import { type ClientAuthentication, clientProof } from "../grants/client-authentication.ts";
import { type TokenSet, tokenSetOf } from "../grants/token-answer.ts";
import type { Provider } from "../provider/discovery.ts";
import { type Http, type HttpAnswer, providerFault } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

export interface TokenClient {
  readonly provider: Provider;
  readonly http: Http;
  readonly clock: () => number;
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
}

export interface TokenAnswer extends TokenSet {
  /** Whether the provider has said when the token ends: `expires_in` is only recommended (RFC 6749 §5.1). */
  readonly isEndKnown: boolean;
}

/**
 * Asks for tokens.
 * @param grant the members of the grant; the client's own are added
 * @throws SignetError `provider_refused` with the provider's `error`, `provider_unreachable`, `provider_answer`
 */
export async function requestTokens(
  client: TokenClient,
  grant: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const now = client.clock();
  const { token_endpoint: address } = await client.provider.metadata();
  if (address === undefined) throw new SignetError("provider_answer", "The provider has no token endpoint.");
  const answer = await post(client, address, grant);
  const isEndKnown = isRecord(answer.body) && answer.body["expires_in"] !== undefined;
  return { ...tokenSetOf(answer, now), isEndKnown };
}

/** Takes a refresh token back, and with it what it led to. @throws SignetError `provider_…` */
export async function revokeRefreshToken(client: TokenClient, refreshToken: string): Promise<void> {
  const { revocation_endpoint: address } = await client.provider.metadata();
  if (address === undefined) return;
  const answer = await post(client, address, { token: refreshToken, token_type_hint: "refresh_token" });
  if (answer.status >= 400) throw providerFault(answer, "the revocation endpoint");
}

async function post(
  { provider, http, clock, issuer, clientId, authentication }: TokenClient,
  address: string,
  form: Readonly<Record<string, string>>,
): Promise<HttpAnswer> {
  const metadata = await provider.metadata();
  const proof = await clientProof(authentication, { clientId, issuer, metadata, clock });
  return http.form(address, { ...form, ...proof.form }, proof.headers);
}

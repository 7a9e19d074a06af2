/** Calls to the provider: token endpoint (RFC 6749 §3.2), revocation (RFC 7009). */
import {
  type OAuthClient,
  parseTokenResponse,
  postAsClient,
  type TokenSet,
  tokenTypeOf,
} from "../grants/oauth-client.ts";
import { providerError } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

export interface TokenResponse extends TokenSet {
  /** Whether the response has `expires_in`, which is only recommended (RFC 6749 §5.1). */
  readonly hasExpiry: boolean;
}

/** @throws SignetError `provider_refused` with `oauthError`, `provider_unreachable`, `provider_answer` */
export async function requestTokens(
  client: OAuthClient,
  grant: Readonly<Record<string, string>>,
): Promise<TokenResponse> {
  const now = client.clock();
  const response = await postAsClient(client, "token_endpoint", grant);
  const hasExpiry = isRecord(response.body) && response.body["expires_in"] !== undefined;
  return { ...parseTokenResponse(response, now, tokenTypeOf(client)), hasExpiry };
}

/** Also revokes the tokens obtained with it. @throws SignetError `provider_…` */
export async function revokeRefreshToken(client: OAuthClient, refreshToken: string): Promise<void> {
  const { revocation_endpoint } = await client.provider.metadata();
  if (revocation_endpoint === undefined) return;
  const form = { token: refreshToken, token_type_hint: "refresh_token" };
  const response = await postAsClient(client, "revocation_endpoint", form);
  if (response.status >= 400) throw providerError(response, "the revocation endpoint");
}

/** Calls to the provider: token endpoint (RFC 6749 §3.2), revocation (RFC 7009), userinfo (OpenID Connect Core §5.3). */
import { SignetError } from "../errors.ts";
import { type OAuthClient, parseTokenResponse, postAsClient, type TokenSet } from "../grants/oauth-client.ts";
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
  return { ...parseTokenResponse(response, now), hasExpiry };
}

/** Also revokes the tokens obtained with it. @throws SignetError `provider_…` */
export async function revokeRefreshToken(client: OAuthClient, refreshToken: string): Promise<void> {
  const { revocation_endpoint } = await client.provider.metadata();
  if (revocation_endpoint === undefined) return;
  const form = { token: refreshToken, token_type_hint: "refresh_token" };
  const response = await postAsClient(client, "revocation_endpoint", form);
  if (response.status >= 400) throw providerError(response, "the revocation endpoint");
}

export type Userinfo = Readonly<Record<string, unknown>>;

/** Claims only the ID token may make: userinfo isn't signed, and must not describe the authentication. */
const protocolClaims: ReadonlySet<string> = new Set(
  "iss aud azp exp iat nbf nonce auth_time acr amr sid at_hash c_hash s_hash cnf events".split(" "),
);

/**
 * @param sub of the verified ID token. @returns empty if the provider has no userinfo endpoint
 * @throws SignetError `token_subject` if the claims are about another user (§5.3.2), `provider_…`
 */
export async function fetchUserinfo(
  { provider, http }: Pick<OAuthClient, "provider" | "http">,
  accessToken: string,
  sub: string,
): Promise<Userinfo> {
  const { userinfo_endpoint: url } = await provider.metadata();
  if (url === undefined) return {};
  const response = await http.json(url, { headers: { authorization: `Bearer ${accessToken}` } });
  if (response.status !== 200) throw providerError(response, "userinfo");
  if (!isRecord(response.body)) throw new SignetError("provider_answer", "Userinfo is not a JSON object.");
  if (response.body["sub"] !== sub)
    throw new SignetError("token_subject", "Userinfo is about another user than the ID token.");
  return Object.fromEntries(Object.entries(response.body).filter(([name]) => !protocolClaims.has(name)));
}

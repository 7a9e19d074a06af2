/** Userinfo (OpenID Connect Core §5.3): a user's claims, which nobody has signed. */
import { SignetError } from "../errors.ts";
import { isRecord } from "../tokens/claims.ts";
import type { Provider } from "./discovery.ts";
import { type Http, providerError } from "./http.ts";

export type Userinfo = Readonly<Record<string, unknown>>;

/** Claims only a signed token may make: userinfo must not describe the authentication. */
const protocolClaims: ReadonlySet<string> = new Set(
  "iss aud azp exp iat nbf jti nonce auth_time acr amr sid at_hash c_hash s_hash cnf events client_id scope act".split(
    " ",
  ),
);

/**
 * @param sub of the verified token. @returns empty if the provider has no userinfo endpoint
 * @throws SignetError `token_subject` if the claims are about another user (§5.3.2), `provider_…`
 */
export async function fetchUserinfo(
  { provider, http }: { readonly provider: Pick<Provider, "metadata">; readonly http: Http },
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
  return withoutProtocolClaims(response.body);
}

/** What a token or userinfo says about the user. */
export const withoutProtocolClaims = (claims: Userinfo): Userinfo =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !protocolClaims.has(name)));

/** The userinfo endpoint (OpenID Connect Core §5.3): the user's properties, which ID tokens need not have. */
import { SignetError } from "../errors.ts";
import type { Provider } from "../provider/discovery.ts";
import { type Http, providerFault } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

export type Userinfo = Readonly<Record<string, unknown>>;

/** What an ID token says, and userinfo never does: it is not signed, and must not speak of how somebody signed in. */
const PROTOCOL_CLAIMS: ReadonlySet<string> = new Set(
  "iss aud azp exp iat nbf nonce auth_time acr amr sid at_hash c_hash s_hash cnf events".split(" "),
);

/**
 * @param sub of the verified ID token
 * @returns the claims about the user; none where the provider has no such endpoint
 * @throws SignetError `token_subject` when they are another user's (§5.3.2), `provider_…`
 */
export async function fetchUserinfo(
  { provider, http }: { readonly provider: Provider; readonly http: Http },
  accessToken: string,
  sub: string,
): Promise<Userinfo> {
  const { userinfo_endpoint: address } = await provider.metadata();
  if (address === undefined) return {};
  const answer = await http.json(address, { headers: { authorization: `Bearer ${accessToken}` } });
  if (answer.status !== 200) throw providerFault(answer, "userinfo");
  if (!isRecord(answer.body)) throw new SignetError("provider_answer", "Userinfo is not a JSON object.");
  if (answer.body["sub"] !== sub)
    throw new SignetError("token_subject", "Userinfo is about another user than the ID token.");
  return Object.fromEntries(Object.entries(answer.body).filter(([name]) => !PROTOCOL_CLAIMS.has(name)));
}

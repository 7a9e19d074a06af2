/** Asking the provider whether a token is still good (RFC 7662): for APIs that a revoked token must not reach until it ends. */
import { SignetError } from "../errors.ts";
import { type ClientAuthentication, clientProof } from "../grants/client-authentication.ts";
import type { Provider } from "../provider/discovery.ts";
import { type Http, providerFault } from "../provider/http.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";

export interface IntrospectionDeps {
  readonly provider: Pick<Provider, "metadata">;
  readonly http: Http;
  readonly issuer: string;
  /** Of the API itself, which must be a confidential client (RFC 7662 §2.1). */
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  readonly clock: () => number;
}

/** What an answer may not contradict: a provider that speaks of another token has not answered for this one. */
const compared = ["iss", "sub", "client_id", "jti"] as const;

/**
 * Asked every time: an answer that is kept is what the question was meant to avoid.
 *
 * @param claims of the token, verified before: introspection adds to that and replaces none of it
 * @throws SignetError `token_inactive`, `provider_unreachable`, `provider_refused`, `provider_answer`
 */
export async function requireActive(deps: IntrospectionDeps, token: string, claims: Claims): Promise<void> {
  const { provider, http, clientId, issuer, clock, authentication } = deps;
  const metadata = await provider.metadata();
  if (metadata.introspection_endpoint === undefined)
    throw new SignetError("provider_answer", "The provider has no introspection_endpoint.");
  const proof = await clientProof(authentication, { clientId, issuer, metadata, clock });
  const form = { token, token_type_hint: "access_token", ...proof.form };
  const answer = await http.form(metadata.introspection_endpoint, form, proof.headers);
  if (answer.status !== 200) throw providerFault(answer, "the introspection endpoint");
  const { body } = answer;
  if (!isRecord(body) || typeof body["active"] !== "boolean")
    throw new SignetError(
      "provider_answer",
      "The provider's answer does not say whether the token is active.",
    );
  if (!body["active"]) throw new SignetError("token_inactive", "The token is not active.");
  const other = compared.find((name) => body[name] !== undefined && body[name] !== claims[name]);
  if (other !== undefined)
    throw new SignetError("provider_answer", `The provider's answer is about another token (${other}).`);
}

/** Token introspection (RFC 7662): for APIs that must reject revoked tokens before they expire. */
import { SignetError } from "../errors.ts";
import { type OAuthClient, postAsClient } from "../grants/oauth-client.ts";
import { providerError } from "../provider/http.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";

/** Members that must match the token's claims; otherwise the response is about another token. */
const comparedMembers = ["iss", "sub", "client_id", "jti"] as const;

/**
 * Introspects the token on every request: caching would defeat the purpose.
 *
 * @param claims of the verified token; introspection adds to verification and replaces none of it
 * @throws SignetError `token_inactive`, `provider_unreachable`, `provider_refused`, `provider_answer`
 */
export async function requireActive(client: OAuthClient, token: string, claims: Claims): Promise<void> {
  const form = { token, token_type_hint: "access_token" };
  const response = await postAsClient(client, "introspection_endpoint", form);
  if (response.status !== 200) throw providerError(response, "the introspection endpoint");
  const { body } = response;
  if (!isRecord(body) || typeof body["active"] !== "boolean")
    throw new SignetError(
      "provider_answer",
      "The introspection response doesn't say if the token is active.",
    );
  if (!body["active"]) throw new SignetError("token_inactive", "The token is not active.");
  const mismatch = comparedMembers.find((name) => body[name] !== undefined && body[name] !== claims[name]);
  if (mismatch !== undefined)
    throw new SignetError(
      "provider_answer",
      `The introspection response is about another token (${mismatch}).`,
    );
}

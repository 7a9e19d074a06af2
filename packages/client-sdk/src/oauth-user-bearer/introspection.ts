/** Introspection of every token (RFC 7662), as a signed response where the profile wants one (RFC 9701). */
import { SignetError } from "../errors.ts";
import { type OAuthClient, postAsClient } from "../grants/oauth-client.ts";
import { type HttpAnswer, providerError } from "../provider/http.ts";
import { requireProfileAlgorithm } from "../security-profile/signed-response.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import { type KeySource, verifyJwt } from "../tokens/verify-jwt.ts";

export interface Introspection {
  readonly client: OAuthClient;
  readonly keys: KeySource;
  /** Only a signed response counts. */
  readonly isSigned: boolean;
  /** Of the tokens: a signing pool's, where its agents sign. */
  readonly tokenIssuer: string;
}

const MEDIA_TYPE = "token-introspection+jwt";
/** Members that must match the token's claims; otherwise the response is about another token. */
const comparedMembers = ["iss", "sub", "client_id", "jti"] as const;

/** On every request: caching would defeat the purpose. @throws SignetError `token_inactive`, `provider_…`, `token_…` */
export async function requireActive(
  introspection: Introspection,
  token: string,
  claims: Claims,
): Promise<void> {
  const form = { token, token_type_hint: "access_token" };
  const headers: Record<string, string> = introspection.isSigned
    ? { accept: `application/${MEDIA_TYPE}` }
    : {};
  const response = await postAsClient(introspection.client, "introspection_endpoint", form, headers);
  if (response.status !== 200) throw providerError(response, "the introspection endpoint");
  const body = introspection.isSigned ? await openSigned(introspection, response) : response.body;
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

/** RFC 9701 §5: the description is one claim of a JWT that is for us alone. */
async function openSigned(
  { client, keys, tokenIssuer: issuer }: Introspection,
  { body }: HttpAnswer,
): Promise<unknown> {
  if (typeof body !== "string")
    throw new SignetError("provider_answer", "The introspection response is not signed.");
  const { clientId: audience, clock } = client;
  const { header, claims } = await verifyJwt(body, {
    ...{ keys, issuer, audience, clock },
    types: [MEDIA_TYPE],
    requiredClaims: ["iss", "aud", "iat", "token_introspection"],
  });
  requireProfileAlgorithm(header.alg);
  return claims["token_introspection"];
}

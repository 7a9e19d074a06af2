/** Client authentication (RFC 6749 §2.3, RFC 7523 §2.2, RFC 8705 §2). */
import { importJWK, type JWK, SignJWT } from "jose";
import type { ProviderMetadata } from "../provider/discovery.ts";
import { algorithmOf } from "../tokens/algorithms.ts";

/** How a client authenticates at the provider's endpoints. */
export type ClientAuthentication =
  /** In the header or in the form, as the provider's metadata says. */
  | { readonly method: "client_secret"; readonly secret: string }
  /** With a short-lived JWT, signed with a key whose public half is registered. */
  | {
      readonly method: "private_key_jwt";
      readonly privateKey: CryptoKey | JWK;
      /** Default: the JWK's `kid`. */
      readonly keyId?: string;
      /** Default: the JWK's `alg`, else ES256, PS256 or EdDSA as the key is. */
      readonly algorithm?: string;
    }
  /** With the client certificate that the given `fetch` presents. */
  | { readonly method: "tls_client_auth" }
  /** A public client. */
  | { readonly method: "none" };

interface ClientAuthenticationContext {
  readonly clientId: string;
  /** The audience of an assertion: the provider's issuer (RFC 7523bis). */
  readonly issuer: string;
  readonly metadata: Pick<ProviderMetadata, "token_endpoint_auth_methods_supported">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export const defaultAuthentication = (secret: string | undefined): ClientAuthentication =>
  secret === undefined ? { method: "none" } : { method: "client_secret", secret };

/** For one request, because an assertion is valid once. */
export async function createClientCredentials(
  authentication: ClientAuthentication,
  context: ClientAuthenticationContext,
) {
  const { clientId } = context;
  if (authentication.method === "client_secret") return secretCredentials(authentication.secret, context);
  if (authentication.method !== "private_key_jwt") return { form: { client_id: clientId }, headers: {} };
  const form = {
    client_id: clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await signAssertion(authentication, context),
  };
  return { form, headers: {} };
}

/** RFC 8414 §2: the default is the header, which every provider must support (RFC 6749 §2.3.1). */
function secretCredentials(secret: string, { clientId, metadata }: ClientAuthenticationContext) {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  if (!methods.includes("client_secret_basic") && methods.includes("client_secret_post"))
    return { form: { client_id: clientId, client_secret: secret }, headers: {} };
  // Both are form-encoded first, because a colon would end the id (RFC 6749 §2.3.1).
  const pair = `${formEncode(clientId)}:${formEncode(secret)}`;
  return { form: {}, headers: { authorization: `Basic ${btoa(pair)}` } };
}

const formEncode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

async function signAssertion(
  authentication: Extract<ClientAuthentication, { method: "private_key_jwt" }>,
  { clientId, issuer, clock }: ClientAuthenticationContext,
): Promise<string> {
  const { privateKey } = authentication;
  const jwk = isCryptoKey(privateKey) ? undefined : privateKey;
  const alg = authentication.algorithm ?? (jwk && algorithmOf(jwk)) ?? "ES256";
  const kid = authentication.keyId ?? jwk?.kid;
  const key = isCryptoKey(privateKey) ? privateKey : await importJWK(privateKey, alg);
  const now = Math.floor(clock() / 1000);
  return new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setIssuedAt(now)
    .setExpirationTime(now + 60)
    .sign(key);
}

const isCryptoKey = (key: CryptoKey | JWK): key is CryptoKey => "extractable" in key && "usages" in key;

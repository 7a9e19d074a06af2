/** How a client shows who it is at the provider's endpoints (RFC 6749 §2.3, RFC 7523 §2.2, RFC 8705 §2). */
import { importJWK, type JWK, SignJWT } from "jose";
import type { ProviderMetadata } from "../provider/discovery.ts";

/** How a client proves who it is at the token endpoint. */
export type ClientAuthentication =
  /** In a header or in the form, as the provider says. */
  | { readonly method: "client_secret"; readonly secret: string }
  /** By a short JWT, signed with a key whose public half is registered. */
  | {
      readonly method: "private_key_jwt";
      readonly privateKey: CryptoKey | JWK;
      /** Default: the JWK's `kid`. */
      readonly keyId?: string;
      /** Default: the JWK's `alg`, else ES256. */
      readonly algorithm?: string;
    }
  /** By the certificate that the given `fetch` shows. */
  | { readonly method: "tls_client_auth" }
  /** A public client names itself and proves nothing. */
  | { readonly method: "none" };

export interface ClientProofContext {
  readonly clientId: string;
  /** Whom an assertion is for: the provider's issuer (RFC 7523bis). */
  readonly issuer: string;
  readonly metadata: Pick<ProviderMetadata, "token_endpoint_auth_methods_supported">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** What goes with a request; made anew for each, as an assertion is good once. */
export interface ClientProof {
  readonly form: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

const ASSERTION_SECONDS = 60;

export async function clientProof(
  authentication: ClientAuthentication,
  context: ClientProofContext,
): Promise<ClientProof> {
  const { clientId } = context;
  if (authentication.method === "client_secret") return secretProof(authentication.secret, context);
  if (authentication.method !== "private_key_jwt") return { form: { client_id: clientId }, headers: {} };
  const form = {
    client_id: clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await assertionOf(authentication, context),
  };
  return { form, headers: {} };
}

/** RFC 8414 §2: a provider that says nothing takes the header, as every one must (RFC 6749 §2.3.1). */
function secretProof(secret: string, { clientId, metadata }: ClientProofContext): ClientProof {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  if (!methods.includes("client_secret_basic") && methods.includes("client_secret_post"))
    return { form: { client_id: clientId, client_secret: secret }, headers: {} };
  // Id and secret are form-encoded before they are joined: a colon in them would end the id (RFC 6749 §2.3.1).
  const pair = `${formEncoded(clientId)}:${formEncoded(secret)}`;
  return { form: {}, headers: { authorization: `Basic ${btoa(pair)}` } };
}

const formEncoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

async function assertionOf(
  authentication: Extract<ClientAuthentication, { method: "private_key_jwt" }>,
  { clientId, issuer, clock }: ClientProofContext,
): Promise<string> {
  const { privateKey } = authentication;
  const jwk = isCryptoKey(privateKey) ? undefined : privateKey;
  const alg = authentication.algorithm ?? jwk?.alg ?? "ES256";
  const kid = authentication.keyId ?? jwk?.kid;
  const key = isCryptoKey(privateKey) ? privateKey : await importJWK(privateKey, alg);
  const now = Math.floor(clock() / 1000);
  return new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_SECONDS)
    .sign(key);
}

const isCryptoKey = (key: CryptoKey | JWK): key is CryptoKey => "extractable" in key && "usages" in key;

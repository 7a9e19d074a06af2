/** ID tokens that only their client can read (OpenID Connect Core §10.2): signed, then encrypted to a key of the client. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { CompactEncrypt, errors, importJWK, type JWK } from "jose";
import { type ClientKeys, ClientKeysUnavailable } from "../applications/client-keys.ts";
import type { TokenSubject } from "./claims.ts";
import type { HeldTokens, SignedTokens } from "./signer.ts";

export type EncryptIdToken = (signed: string) => Promise<string>;

/**
 * Found before anything is signed or consumed, so that a client without a key loses nothing.
 * @returns undefined where the response has no ID token, or the application reads it as it is signed
 * @throws OAuthError invalid_request without a key, also when the client's jwks_uri fails
 */
export async function idTokenEncryption(
  { clientKeys }: { readonly clientKeys: Pick<ClientKeys, "encryptionKey"> },
  { application, user, scopes }: Pick<TokenSubject, "application" | "user" | "scopes">,
): Promise<EncryptIdToken | undefined> {
  const { idTokenEncryptedResponseAlg: alg, idTokenEncryptedResponseEnc: enc } = application.settings;
  if (alg === undefined || !user || !scopes.includes("openid")) return undefined;
  const jwk = await clientKeys.encryptionKey(application, alg).catch((error: unknown) => {
    throw error instanceof ClientKeysUnavailable ? withoutKey(error) : error;
  });
  if (!jwk) throw withoutKey("no key with use=enc");
  const key = await importJWK(jwk as JWK, alg).catch((error: unknown) => {
    throw error instanceof errors.JOSEError ? withoutKey(error) : error;
  });
  const { kid } = jwk as { kid?: string };
  // RFC 7519 §5.2: a nested JWT says so.
  const header = { alg, enc, cty: "JWT", ...(kid === undefined ? {} : { kid }) };
  return (signed) =>
    new CompactEncrypt(new TextEncoder().encode(signed)).setProtectedHeader(header).encrypt(key);
}

/** Tokens that wait for their release are encrypted when it comes. */
export async function withEncryptedIdToken(
  signed: SignedTokens | HeldTokens,
  encrypt: EncryptIdToken,
): Promise<SignedTokens | HeldTokens> {
  const encrypted = async (tokens: SignedTokens): Promise<SignedTokens> =>
    tokens.idToken === undefined ? tokens : { ...tokens, idToken: await encrypt(tokens.idToken) };
  return "release" in signed
    ? { release: async (db) => encrypted(await signed.release(db)) }
    : encrypted(signed);
}

const withoutKey = (cause: unknown) =>
  new OAuthError("invalid_request", "the client has no key that its ID token can be encrypted with", {
    cause,
  });

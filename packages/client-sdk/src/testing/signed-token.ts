/** Creates tokens for tests, valid or not: nothing is checked here. */
import { base64url, exportJWK, generateKeyPair, type JWK } from "jose";

export interface TestKey {
  readonly alg: string;
  readonly kid: string;
  /** As a provider publishes it. */
  readonly jwk: JWK;
  /** A JWS signature, whatever the header says. */
  sign(input: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}

/** RFC 7518 §3.1: the last three digits of an algorithm's name are the length of its hash, and of the salt of PSS. */
function signature(alg: string): Parameters<typeof crypto.subtle.sign>[0] {
  const bits = Number(alg.slice(2));
  if (alg.startsWith("ES")) return { name: "ECDSA", hash: `SHA-${bits}` };
  if (alg.startsWith("PS")) return { name: "RSA-PSS", saltLength: bits / 8 };
  if (alg.startsWith("ML-DSA")) return { name: alg };
  return { name: alg.startsWith("RS") ? "RSASSA-PKCS1-v1_5" : "Ed25519" };
}

export async function testKey(kid: string, alg = "ES256"): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    alg,
    kid,
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" },
    sign: (input) => crypto.subtle.sign(signature(alg), privateKey, input),
  };
}

/** Signs with a shared secret, such as a public key mistaken for one (RFC 8725 §2.1). */
export function sharedSecret(secret: Uint8Array<ArrayBuffer>): Pick<TestKey, "sign"> {
  return {
    sign: async (input) => {
      const hmac = { name: "HMAC", hash: "SHA-256" };
      const key = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"]);
      return crypto.subtle.sign(hmac, key, input);
    },
  };
}

/** A JWS with any header and claims, without undefined members. */
export async function signedToken(
  key: Pick<TestKey, "sign">,
  header: unknown,
  claims: unknown,
): Promise<string> {
  const part = (value: unknown) => base64url.encode(JSON.stringify(value));
  const input = `${part(header)}.${part(claims)}`;
  const signature = await key.sign(new TextEncoder().encode(input) as Uint8Array<ArrayBuffer>);
  return `${input}.${base64url.encode(new Uint8Array(signature))}`;
}

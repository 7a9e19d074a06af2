/** Proofs of possession (RFC 9449), by a key that nobody can take out of the browser. */
import { base64url, random, sha256 } from "./base64url.ts";
import type { SharedStore } from "./browser.ts";

type Jwk = Readonly<Record<string, unknown>>;

export interface DpopKey {
  readonly privateKey: CryptoKey;
  /** The public half, as proofs carry it. */
  readonly jwk: Jwk;
  /** RFC 7638. */
  readonly thumbprint: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const KEY = "dpop-key";

/** Of this origin: made once, and kept as a non-extractable key. */
export async function loadDpopKey(store: SharedStore): Promise<DpopKey> {
  const kept = await store.get<DpopKey>(KEY);
  if (kept) return kept;
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const jwk = { kty, crv, x, y };
  // In the order of RFC 7638 §3.2.
  const thumbprint = await sha256(JSON.stringify({ crv, kty, x, y }));
  const key = { privateKey, jwk, thumbprint };
  await store.put(KEY, key);
  return key;
}

export const forgetDpopKey = (store: SharedStore): Promise<void> => store.delete(KEY);

export interface ProofOf {
  readonly method: string;
  readonly url: string;
  /** Of the server that is asked (RFC 9449 §8). */
  readonly nonce?: string | undefined;
  readonly accessToken?: string | undefined;
}

export async function dpopProof(key: DpopKey, { method, url, nonce, accessToken }: ProofOf): Promise<string> {
  const { origin, pathname } = new URL(url);
  const payload = {
    jti: random(),
    htm: method,
    // Without query and fragment (RFC 9449 §4.2).
    htu: `${origin}${pathname}`,
    iat: Math.floor(Date.now() / 1000),
    ...(nonce === undefined ? {} : { nonce }),
    ...(accessToken === undefined ? {} : { ath: await sha256(accessToken) }),
  };
  const header = { typ: "dpop+jwt", alg: "ES256", jwk: key.jwk };
  const input = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}`;
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    key.privateKey,
    new TextEncoder().encode(input),
  );
  return `${input}.${base64url(new Uint8Array(signature))}`;
}

/** Proofs of possession as a client makes them (RFC 9449 §4, §5, §7): one for each request, with the server's nonce. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { sha256Base64url } from "../base64url.ts";
import { isRecord } from "../tokens/claims.ts";

/** The request that a proof is for. */
export interface ProvenRequest {
  readonly method: string;
  readonly url: string;
  /** At a resource: the token that the request carries. */
  readonly accessToken?: string | undefined;
}

/** What is looked at in a response: whether the server wants a nonce (§8, §9). */
interface NonceAnswer {
  readonly headers: Headers;
  readonly body?: unknown;
}

/** The key that tokens are bound to, as requests use it. */
export interface Dpop {
  /** RFC 7638. */
  thumbprint(): Promise<string>;
  /**
   * Sends a request with a proof; once more if the server asks for its nonce.
   * @param call sends with these headers; it must be able to do so twice
   */
  send<Answer extends NonceAnswer>(
    request: ProvenRequest,
    call: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
  ): Promise<Answer>;
}

/** Nonces by origin (§8.2), newest last. */
export type ServerNonces = Map<string, string>;

const MAX_ORIGINS = 100;
const MAX_NONCE_LENGTH = 1_000;

/** A private key as a JWK, for a session's cookie. */
export async function createDpopJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const { kty, crv, x, y, d } = await exportJWK(privateKey);
  return { kty, crv, x, y, d } as JWK;
}

/** @param clock milliseconds since the epoch */
export function createDpop(jwk: () => Promise<JWK>, nonces: ServerNonces, clock: () => number): Dpop {
  let loaded: Promise<LoadedKey> | undefined;
  const load = () => {
    loaded ??= jwk().then(loadKey);
    return loaded;
  };
  return {
    thumbprint: async () => (await load()).thumbprint,
    send: async (request, call) => {
      const { origin } = new URL(request.url);
      const attempt = async () =>
        call({ dpop: await signProof(await load(), request, { nonce: nonces.get(origin), clock }) });
      const sent = nonces.get(origin);
      const answer = await attempt();
      rememberNonce(nonces, origin, answer.headers.get("dpop-nonce"));
      if (!asksForNonce(answer) || nonces.get(origin) === sent) return answer;
      const second = await attempt();
      rememberNonce(nonces, origin, second.headers.get("dpop-nonce"));
      return second;
    },
  };
}

interface LoadedKey {
  readonly key: CryptoKey | Uint8Array;
  readonly publicJwk: JWK;
  readonly thumbprint: string;
}

async function loadKey(jwk: JWK): Promise<LoadedKey> {
  const { kty, crv, x, y } = jwk;
  const publicJwk = { kty, crv, x, y } as JWK;
  return {
    key: await importJWK(jwk, "ES256"),
    publicJwk,
    thumbprint: await calculateJwkThumbprint(publicJwk),
  };
}

async function signProof(
  { key, publicJwk }: LoadedKey,
  { method, url, accessToken }: ProvenRequest,
  { nonce, clock }: { readonly nonce: string | undefined; readonly clock: () => number },
): Promise<string> {
  const { origin, pathname } = new URL(url);
  const claims = {
    jti: crypto.randomUUID(),
    htm: method,
    // Without query and fragment (§4.2).
    htu: `${origin}${pathname}`,
    iat: Math.floor(clock() / 1000),
    ...(nonce === undefined ? {} : { nonce }),
    ...(accessToken === undefined ? {} : { ath: await sha256Base64url(accessToken) }),
  };
  return new SignJWT(claims).setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk: publicJwk }).sign(key);
}

/** An authorization server says so in the body (§8), a resource server in its challenge (§9). */
function asksForNonce({ headers, body }: NonceAnswer): boolean {
  if (isRecord(body) && body["error"] === "use_dpop_nonce") return true;
  return /\berror="?use_dpop_nonce\b/i.test(headers.get("www-authenticate") ?? "");
}

/** The newest counts (§8.2), whichever response it came with. */
function rememberNonce(nonces: ServerNonces, origin: string, nonce: string | null): void {
  if (nonce === null || nonce === "" || nonce.length > MAX_NONCE_LENGTH) return;
  nonces.delete(origin);
  nonces.set(origin, nonce);
  const [oldest] = nonces.keys();
  if (nonces.size > MAX_ORIGINS && oldest !== undefined) nonces.delete(oldest);
}

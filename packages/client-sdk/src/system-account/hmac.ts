/**
 * The signature of a system account (specification, "HMAC API authentication"): Base64 of HMAC-SHA256 under the secret key
 * over the body, byte for byte. The strict form also covers what the request does and when, and holds once.
 */

export const TIMESTAMP_HEADER = "x-signet-timestamp";
export const NONCE_HEADER = "x-signet-nonce";
/** Seconds that the clocks of the two sides may differ. */
export const MOST_SKEW_SECONDS = 300;

/** What the strict form covers beside the body. */
export interface StrictPart {
  /** Upper case. */
  readonly method: string;
  /** Path, and `?` and the query where there is one, as it is sent. */
  readonly target: string;
  /** Seconds since the epoch, in decimal digits. */
  readonly timestamp: string;
  readonly nonce: string;
}

/** The pair of keys of a system account, as the service has issued it. */
export interface SystemAccountKeys {
  /** A UUID: names the pair, and is sent. */
  readonly publicKey: string;
  /** `sgn_sa_…`, whole; never sent. */
  readonly secretKey: string;
}

/** @param body the raw bytes; empty when the request has none */
export async function hmacSignature(
  secretKey: string,
  body: Uint8Array,
  strict?: StrictPart,
): Promise<string> {
  const key = await hmacKey(secretKey, "sign");
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signedBytes(body, strict)));
  return btoa(String.fromCharCode(...mac));
}

/** WebCrypto compares in constant time. Any other spelling of the same bytes is refused. */
export async function isHmacSignature(
  presented: string,
  secretKey: string,
  body: Uint8Array,
  strict?: StrictPart,
): Promise<boolean> {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(presented)) return false;
  const mac = Uint8Array.from(atob(presented), (character) => character.charCodeAt(0));
  if (btoa(String.fromCharCode(...mac)) !== presented) return false;
  const key = await hmacKey(secretKey, "verify");
  return crypto.subtle.verify("HMAC", key, mac, signedBytes(body, strict));
}

function hmacKey(secretKey: string, use: "sign" | "verify"): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secretKey);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

function signedBytes(body: Uint8Array, strict: StrictPart | undefined): Uint8Array<ArrayBuffer> {
  const before = strict ? `${strict.method}\n${strict.target}\n${strict.timestamp}\n${strict.nonce}\n` : "";
  const head = new TextEncoder().encode(before);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

export interface PresentedSignature {
  /** In lower case. */
  readonly publicKey: string;
  readonly signature: string;
}

/** `Authorization: <PUBLIC_KEY>:<SIGNATURE>`. Undefined for a header of any other form. */
export function parseAuthorization(header: string | null): PresentedSignature | undefined {
  const found = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([A-Za-z0-9+/]{43}=)$/i.exec(header ?? "");
  return found?.[1] && found[2] ? { publicKey: found[1].toLowerCase(), signature: found[2] } : undefined;
}

/** Path and query of an address, as they are written there: also a `?` with nothing behind it, which `search` hides. */
export function targetOf(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  url.hash = "";
  return url.href.slice(url.origin.length);
}

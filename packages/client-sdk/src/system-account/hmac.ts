/** Signatures of system accounts (specification, "HMAC API authentication"). The strict form is accepted once. */
import { type StrictPart, signedPrefix } from "@signet/protocol/hmac-headers";
import { concatBytes } from "../read-body.ts";

/** A system account's key pair, as issued by the service. */
export interface SystemAccountKeys {
  /** A UUID that identifies the pair; sent with every request. */
  readonly publicKey: string;
  /** `sgn_sa_…`, complete; never sent. */
  readonly secretKey: string;
}

/** @param body the raw bytes; empty without a body */
export async function signHmac(secretKey: string, body: Uint8Array, strict?: StrictPart): Promise<string> {
  const key = await importKey(secretKey, "sign");
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signedBytes(body, strict)));
  return btoa(String.fromCharCode(...mac));
}

/** WebCrypto compares in constant time. Non-canonical Base64 is rejected. */
export async function verifyHmac(
  signature: string,
  secretKey: string,
  body: Uint8Array,
  strict?: StrictPart,
): Promise<boolean> {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(signature)) return false;
  const mac = Uint8Array.from(atob(signature), (character) => character.charCodeAt(0));
  if (btoa(String.fromCharCode(...mac)) !== signature) return false;
  const key = await importKey(secretKey, "verify");
  return crypto.subtle.verify("HMAC", key, mac, signedBytes(body, strict));
}

function importKey(secretKey: string, usage: "sign" | "verify"): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secretKey);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [usage]);
}

const signedBytes = (body: Uint8Array, strict: StrictPart | undefined): Uint8Array<ArrayBuffer> =>
  concatBytes([new TextEncoder().encode(signedPrefix(strict)), body]);

/** Path and query of a URL, including an empty `?`, which `search` hides. */
export function requestTarget(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  url.hash = "";
  return url.href.slice(url.origin.length);
}

/** Signatures of system accounts (specification, "HMAC API authentication"). The strict form is accepted once. */
import { concatBytes } from "../read-body.ts";

export const TIMESTAMP_HEADER = "x-signet-timestamp";
export const NONCE_HEADER = "x-signet-nonce";
/** Accepted clock skew. */
export const MAX_SKEW_SECONDS = 300;

/** What the strict form covers besides the body. */
export interface StrictFields {
  /** Upper case. */
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Seconds since the epoch, in decimal digits. */
  readonly timestamp: string;
  readonly nonce: string;
}

/** A system account's key pair, as issued by the service. */
export interface SystemAccountKeys {
  /** A UUID that identifies the pair; sent with every request. */
  readonly publicKey: string;
  /** `sgn_sa_…`, complete; never sent. */
  readonly secretKey: string;
}

/** @param body the raw bytes; empty without a body */
export async function signHmac(secretKey: string, body: Uint8Array, strict?: StrictFields): Promise<string> {
  const key = await importKey(secretKey, "sign");
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signedBytes(body, strict)));
  return btoa(String.fromCharCode(...mac));
}

/** WebCrypto compares in constant time. Non-canonical Base64 is rejected. */
export async function verifyHmac(
  signature: string,
  secretKey: string,
  body: Uint8Array,
  strict?: StrictFields,
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

function signedBytes(body: Uint8Array, strict: StrictFields | undefined): Uint8Array<ArrayBuffer> {
  const prefix = strict ? `${strict.method}\n${strict.target}\n${strict.timestamp}\n${strict.nonce}\n` : "";
  return concatBytes([new TextEncoder().encode(prefix), body]);
}

export interface PresentedSignature {
  /** In lower case. */
  readonly publicKey: string;
  readonly signature: string;
}

/** `Authorization: <PUBLIC_KEY>:<SIGNATURE>`. Undefined for any other format. */
export function parseAuthorization(header: string | null): PresentedSignature | undefined {
  const match = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([A-Za-z0-9+/]{43}=)$/i.exec(header ?? "");
  return match?.[1] && match[2] ? { publicKey: match[1].toLowerCase(), signature: match[2] } : undefined;
}

/** Path and query of a URL, including an empty `?`, which `search` hides. */
export function requestTarget(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  url.hash = "";
  return url.href.slice(url.origin.length);
}

/**
 * Signatures of system accounts' calls (specification, "HMAC API authentication"): Base64 of HMAC-SHA256 over the raw body. The
 * strict form also covers method, target, time and nonce (wire-contract.md §3).
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export const TIMESTAMP_HEADER = "x-signet-timestamp";
export const NONCE_HEADER = "x-signet-nonce";
/** Maximum clock skew in seconds. */
export const MAX_SKEW_SECONDS = 300;
export const NONCE_MAX_LENGTH = 128;

export interface StrictPart {
  /** In upper case. */
  readonly method: string;
  /** As sent: the path, and `?` and the query where there is one. */
  readonly target: string;
  /** Seconds since the epoch, in decimal digits as sent. */
  readonly timestamp: string;
  readonly nonce: string;
}

/** @param body the raw bytes; empty when the request has none */
export function hmacSignature(secret: string, body: Uint8Array, strict?: StrictPart): string {
  return mac(secret, body, strict).toString("base64");
}

/** Constant-time for a well-formed signature. Rejects any other encoding of the same bytes. */
export function isHmacSignature(
  presented: string,
  secret: string,
  body: Uint8Array,
  strict?: StrictPart,
): boolean {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(presented)) return false;
  const bytes = Buffer.from(presented, "base64");
  return bytes.toString("base64") === presented && timingSafeEqual(bytes, mac(secret, body, strict));
}

function mac(secret: string, body: Uint8Array, strict: StrictPart | undefined): Buffer {
  const hmac = createHmac("sha256", secret);
  if (strict) hmac.update(`${strict.method}\n${strict.target}\n${strict.timestamp}\n${strict.nonce}\n`);
  return hmac.update(body).digest();
}

export interface SystemAccountCredentials {
  /** A UUID, in lower case. */
  readonly publicKey: string;
  readonly signature: string;
}

/** `Authorization: <PUBLIC_KEY>:<SIGNATURE>`. Undefined for a header of any other form. */
export function parseSystemAccountHeader(header: string | undefined): SystemAccountCredentials | undefined {
  const found = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([A-Za-z0-9+/]{43}=)$/i.exec(header ?? "");
  return found?.[1] && found[2] ? { publicKey: found[1].toLowerCase(), signature: found[2] } : undefined;
}

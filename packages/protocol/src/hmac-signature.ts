/**
 * Signatures of system accounts' calls (specification, "HMAC API authentication"): Base64 of HMAC-SHA256 over the raw body. The
 * strict form also covers method, target, time and nonce (wire-contract.md §3).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type StrictPart, signedPrefix } from "./hmac-headers.ts";

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
  return createHmac("sha256", secret).update(signedPrefix(strict)).update(body).digest();
}

/** SHA-256, random secrets, UUID syntax and constant-time comparison. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** 43 characters; a string is hashed as UTF-8. Secrets and tokens are stored like this. */
export function sha256Base64url(value: string | Uint8Array): string {
  return hash("sha256", value, "base64url");
}

/** Compares in constant time. Lengths may leak: hashes, signatures and tokens have a publicly known length. */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  // UTF-16 keeps every string apart from every other; UTF-8 would fold all lone surrogates into one replacement character.
  return timingSafeEqual(Buffer.from(a, "utf16le"), Buffer.from(b, "utf16le"));
}

/** A prefix that names its kind, and random bytes in base64url: 43 characters by default. */
export const randomSecret = (prefix: string, bytes = 32): string =>
  prefix + randomBytes(bytes).toString("base64url");

/** Of any version, in either case (RFC 9562 §4); lower-case it before it becomes a key. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

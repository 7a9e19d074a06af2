import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** SHA-256 as 43 base64url characters; a string is hashed as UTF-8. This is how every secret and token is stored. */
export function sha256Base64url(value: string | Uint8Array): string {
  return hash("sha256", value, "base64url");
}

/**
 * Whether two strings are the same, in a time that does not tell where they differ. A different length is told at once:
 * what we compare are hashes, signatures and tokens, whose length everybody knows.
 */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  // UTF-16 keeps every string apart from every other; UTF-8 would fold all lone surrogates into one replacement character.
  return timingSafeEqual(Buffer.from(a, "utf16le"), Buffer.from(b, "utf16le"));
}

/** A new secret: `prefix`, which names its kind, and `bytes` random bytes in base64url (43 characters for the default of 32). */
export function randomSecret(prefix: string, bytes = 32): string {
  return prefix + randomBytes(bytes).toString("base64url");
}

/** Whether the text is a UUID of any version, in either case (RFC 9562 §4); lower-case it before it becomes a key. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

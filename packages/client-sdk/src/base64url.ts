/** Random values and SHA-256 hashes in base64url. */
import { base64url } from "jose";

/** 32 bytes become 43 characters. */
export function randomBase64url(bytes = 32): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** 43 characters, the format of `ath`, `x5t#S256`, `jkt` and S256 code challenges. Strings are hashed as UTF-8. */
export async function sha256Base64url(value: string | Uint8Array): Promise<string> {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : new Uint8Array(value);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

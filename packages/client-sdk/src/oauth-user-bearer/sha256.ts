import { base64url } from "jose";

/** 43 base64url characters: the form of `ath`, `x5t#S256` and `jkt`. A text is hashed as UTF-8. */
export async function sha256Base64url(value: string | Uint8Array): Promise<string> {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : new Uint8Array(value);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

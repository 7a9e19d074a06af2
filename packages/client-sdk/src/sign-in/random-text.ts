/** Values that nobody guesses, and hashes of values that nobody should find in memory. */
import { base64url } from "jose";

/** @returns base64url of random bytes; 32 of them are 43 characters */
export function randomText(bytes = 32): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** SHA-256 in base64url: also the S256 challenge of a code verifier (RFC 7636 §4.2). */
export async function sha256Text(text: string): Promise<string> {
  return base64url.encode(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
  );
}

/** PKCE with S256 (RFC 7636). */
import { constantTimeEqual, sha256Base64url } from "../hash.ts";

/** RFC 7636 §4.1: 43 to 128 unreserved characters. */
export function isCodeVerifier(text: string): boolean {
  return /^[A-Za-z0-9\-._~]{43,128}$/.test(text);
}

/** RFC 7636 §4.2: canonical base64url of 32 bytes, so the last of the 43 characters carries four bits only. */
export function isS256Challenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text);
}

/** The S256 challenge of a verifier (RFC 7636 §4.2). */
export function s256Challenge(verifier: string): string {
  return sha256Base64url(verifier);
}

/** Whether a well-formed verifier belongs to the challenge (RFC 7636 §4.6), compared in constant time. */
export function verifyS256(verifier: string, challenge: string): boolean {
  return isCodeVerifier(verifier) && constantTimeEqual(s256Challenge(verifier), challenge);
}

/** The headers of system accounts' signed requests (wire-contract.md §3). Platform-independent. */

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

/** What is signed before the body; nothing in the plain form. */
export const signedPrefix = (strict: StrictPart | undefined): string =>
  strict ? `${strict.method}\n${strict.target}\n${strict.timestamp}\n${strict.nonce}\n` : "";

/** `Authorization: <PUBLIC_KEY>:<SIGNATURE>`, the key in lower case. Undefined for a header of any other form. */
export function parseSystemAccountHeader(
  header: string | null | undefined,
): { readonly publicKey: string; readonly signature: string } | undefined {
  const match = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([A-Za-z0-9+/]{43}=)$/i.exec(header ?? "");
  return match?.[1] && match[2] ? { publicKey: match[1].toLowerCase(), signature: match[2] } : undefined;
}

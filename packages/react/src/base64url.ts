/** Base64url (RFC 4648 §5), random values and SHA-256. */

const encode = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

export const base64url = (value: Uint8Array | string): string =>
  encode(typeof value === "string" ? new TextEncoder().encode(value) : value);

/** 32 bytes: 43 characters. */
export const random = (): string => encode(crypto.getRandomValues(new Uint8Array(32)));

export const sha256 = async (text: string): Promise<string> =>
  encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));

/** The claims of a JWT. @throws for anything else */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const part = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
}

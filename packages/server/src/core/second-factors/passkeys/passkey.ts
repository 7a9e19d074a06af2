/** Passkeys: types and limits (WebAuthn credentials). */
export interface Passkey {
  readonly id: string;
  readonly publicKey: string;
  readonly counter: number;
  /** As the browser reported them: `internal`, `usb`, `hybrid` … */
  readonly transports: readonly string[];
  readonly name: string;
  /** Synced to an account of the platform. */
  readonly isBackedUp: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface PasskeyUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
  /** The key never leaves its hardware, unlike a synced passkey. */
  readonly isDeviceBound: boolean;
  /** By fingerprint, face or PIN: two factors in one. */
  readonly isUserVerified: boolean;
}

/** Authenticators bind each passkey to it, which makes passkeys phishing-resistant. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

export function createRelyingParty(baseUrl: string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

export const MAX_PASSKEYS = 20;

/** Without control and formatting characters. Undefined when nothing is left. */
export function passkeyName(input: string): string | undefined {
  const name = [...input.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "").trim()].slice(0, 60).join("");
  return name === "" ? undefined : name;
}

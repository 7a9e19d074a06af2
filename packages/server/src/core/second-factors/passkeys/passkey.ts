/** A WebAuthn credential of a user. */
export interface Passkey {
  /** The credential id, base64url. */
  readonly id: string;
  /** The COSE key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  /** How it can be reached, as the browser said: `internal`, `usb`, `hybrid` … */
  readonly transports: readonly string[];
  /** What the user calls it. */
  readonly name: string;
  /** Kept in an account of the platform, so that it survives the device. */
  readonly isBackedUp: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** What a browser's answer proved. */
export interface PasskeyUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
  /** The key never leaves its hardware; a synced passkey's does. */
  readonly isDeviceBound: boolean;
  /** By fingerprint, face or PIN: then the passkey is two factors in one. */
  readonly isUserVerified: boolean;
}

/** Who we are to authenticators: they bind each passkey to it, which is why no look-alike page can use one. */
export interface RelyingParty {
  /** The host of the base address. */
  readonly id: string;
  readonly origin: string;
}

export function relyingPartyOf(baseUrl: string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/** How often people can add one. */
export const MOST_PASSKEYS = 20;

/** A name as it is kept: something to recognise it by, without what could disguise it. Undefined when nothing is left. */
export function passkeyName(typed: string): string | undefined {
  const name = [...typed.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "").trim()].slice(0, 60).join("");
  return name === "" ? undefined : name;
}

/** A master key as it is kept: 32 bytes, or wrapped by a key that never leaves its HSM. */
import { MASTER_KEY_BYTES } from "./key-ring.ts";

const WRAPPED = "pkcs11.";
/** Nonce, ciphertext and tag of AES-GCM. */
export const WRAPPED_BYTES = 12 + MASTER_KEY_BYTES + 16;

export const isWrapped = (stored: Buffer): boolean => stored.length === WRAPPED_BYTES;

/** base64url, or hex for a key in clear; undefined for anything else. */
export function readStoredKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9_+/-]{43}=?$/.test(text)) return Buffer.from(text, "base64url");
  if (!text.startsWith(WRAPPED) || !/^[A-Za-z0-9_-]{80}$/.test(text.slice(WRAPPED.length))) return undefined;
  return Buffer.from(text.slice(WRAPPED.length), "base64url");
}

export const storedKeyText = (stored: Buffer): string =>
  `${isWrapped(stored) ? WRAPPED : ""}${stored.toString("base64url")}`;

export interface KeyWrapping {
  /** @returns the key as it is to be kept */
  wrap(key: Buffer): Buffer;
  /** @returns the key in clear @throws when it was wrapped by another one */
  unwrap(stored: Buffer): Buffer;
}

/** Keys are kept in clear. */
export const noWrapping: KeyWrapping = {
  wrap: (key) => key,
  unwrap: (stored) => {
    if (!isWrapped(stored)) return stored;
    throw new Error(
      "the master key is wrapped by an HSM: set SIGNET_MASTER_KEY_PKCS11 to the key that unwraps it",
    );
  },
};

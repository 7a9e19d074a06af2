/**
 * The master keys: the first one seals and signs, each one still opens and verifies, so that a key is replaced while the service
 * runs. The same shape holds the keys that are derived from them for one purpose.
 */
import { hkdfSync } from "node:crypto";

export const MASTER_KEY_BYTES = 32;
/** The key in use and those before it; each failed opening tries all of them. */
export const MAX_KEYS = 5;

export type Keys = readonly [Buffer, ...Buffer[]];

export interface KeyRing {
  /** Never empty. The same array until the keys change. */
  all(): Keys;
  /** Looks where the keys are kept: another process may have replaced them. @returns whether they have changed */
  refresh(): boolean;
}

/** Keys that stay as they are until the process ends. */
export const keyRing = (...keys: [Uint8Array, ...Uint8Array[]]): KeyRing => {
  const all = keys.map((key) => Buffer.from(key)) as unknown as Keys;
  return { all: () => all, refresh: () => false };
};

/** A separate key for each purpose (RFC 5869), so that no value of one is valid for another. */
export function deriveKey(masterKey: Uint8Array, purpose: string): Buffer {
  if (masterKey.length !== MASTER_KEY_BYTES) throw new Error("the master key must have 32 bytes");
  return Buffer.from(hkdfSync("sha256", masterKey, Buffer.alloc(0), `signet ${purpose} v1`, 32));
}

/** The keys of one purpose, in the order of those they are derived from. */
export function deriveKeys(ring: KeyRing, purpose: string): KeyRing {
  let from: Keys | undefined;
  let derived: Keys | undefined;
  return {
    all: () => {
      const keys = ring.all();
      if (derived === undefined || from !== keys) {
        derived = keys.map((key) => deriveKey(key, purpose)) as unknown as Keys;
        from = keys;
      }
      return derived;
    },
    refresh: () => ring.refresh(),
  };
}

/**
 * What the first key gives that gives anything.
 * @param attempt undefined where the key is not the right one
 */
export function firstOf<T>(ring: KeyRing, attempt: (key: Buffer) => T | undefined): T | undefined {
  const among = (keys: Keys) => {
    for (const key of keys) {
      const found = attempt(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return among(ring.all()) ?? (ring.refresh() ? among(ring.all()) : undefined);
}

/** Whether a value was made with one of the keys. @param isOwn compares in constant time */
export const isOfRing = (ring: KeyRing, isOwn: (key: Buffer) => boolean): boolean =>
  firstOf(ring, (key) => isOwn(key) || undefined) === true;

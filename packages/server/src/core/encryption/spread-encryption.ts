/**
 * For short-lived data that is encrypted very often. AES-GCM with random nonces allows 2^32 messages per key (NIST SP
 * 800-38D §8.3), which a busy service would reach in weeks. So the row selects one of many keys; together they last
 * for 500 messages a second over seventy years.
 */
import { createHash } from "node:crypto";
import { createEncryption, deriveKey, type Encryption } from "./encryption.ts";

const KEYS = 256;

/** @param purpose separates keys, so that data of one purpose never decrypts under another */
export function shardedEncryption(masterKey: Uint8Array, purpose: string): Encryption {
  const ciphers = new Map<number, Encryption>();
  const keyOf = (row: string): Encryption => {
    const index = createHash("sha256").update(row).digest().readUInt16BE() % KEYS;
    const known = ciphers.get(index);
    if (known) return known;
    const encryption = createEncryption(deriveKey(masterKey, `${purpose}|${index}`));
    ciphers.set(index, encryption);
    return encryption;
  };
  return {
    seal: (plaintext, row) => keyOf(row).seal(plaintext, row),
    open: (sealed, row) => keyOf(row).open(sealed, row),
  };
}

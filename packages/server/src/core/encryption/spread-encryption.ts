/**
 * For what is sealed very often and kept shortly. AES-GCM with random nonces is good for 2^32 texts under one key (NIST SP
 * 800-38D §8.3), which a busy service would reach in weeks: so there are many keys, and the row decides which. Together
 * they are good for 500 texts a second over seventy years.
 */
import { createHash } from "node:crypto";
import { createEncryption, deriveKey, type Encryption } from "./encryption.ts";

const KEYS = 256;

/** @param purpose what is sealed, so that a text of one purpose never opens under another */
export function spreadEncryption(masterKey: Uint8Array, purpose: string): Encryption {
  const made = new Map<number, Encryption>();
  const keyOf = (row: string): Encryption => {
    const index = createHash("sha256").update(row).digest().readUInt16BE() % KEYS;
    const known = made.get(index);
    if (known) return known;
    const encryption = createEncryption(deriveKey(masterKey, `${purpose}|${index}`));
    made.set(index, encryption);
    return encryption;
  };
  return {
    seal: (plaintext, row) => keyOf(row).seal(plaintext, row),
    open: (sealed, row) => keyOf(row).open(sealed, row),
  };
}

/**
 * Encryption at rest: AES-256-GCM under the master key. The row is the associated data, so that a ciphertext moved to
 * another row or organisation doesn't decrypt.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const MASTER_KEY_BYTES = 32;

export interface Encryption {
  /** @param row names the row, e.g. `signing-key|<org>|<kid>` */
  seal(plaintext: Uint8Array, row: string): string;
  /** @throws when the ciphertext was modified, moved to another row, or encrypted under another master key */
  open(sealed: string, row: string): Buffer;
}

export function createEncryption(masterKey: Uint8Array): Encryption {
  const key = deriveKey(masterKey, "data-at-rest");
  return {
    seal: (plaintext, row) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      cipher.setAAD(Buffer.from(row));
      const parts = [iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
      return `${VERSION}.${Buffer.concat(parts).toString("base64url")}`;
    },
    open: (sealed, row) => {
      const [version, encoded] = sealed.split(".");
      if (version !== VERSION || !encoded) throw new Error("not a Signet ciphertext");
      const bytes = Buffer.from(encoded, "base64url");
      const tagAt = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(row));
      decipher.setAuthTag(bytes.subarray(tagAt));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, tagAt)), decipher.final()]);
    },
  };
}

/** A separate key for each purpose (RFC 5869), so that no value of one is valid for another. */
export function deriveKey(masterKey: Uint8Array, purpose: string): Buffer {
  if (masterKey.length !== MASTER_KEY_BYTES) throw new Error("the master key must have 32 bytes");
  return Buffer.from(hkdfSync("sha256", masterKey, Buffer.alloc(0), `signet ${purpose} v1`, 32));
}

const KEYS = 256;

/**
 * For short-lived data that is encrypted very often. AES-GCM with random nonces allows 2^32 messages per key (NIST SP
 * 800-38D §8.3), which a busy service would reach in weeks. So the row selects one of many keys; together they last
 * for 500 messages a second over seventy years.
 * @param purpose separates keys, so that data of one purpose never decrypts under another
 */
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

/**
 * Encryption at rest: AES-256-GCM under the master key. The row is the associated data, so that a ciphertext moved to
 * another row or organisation doesn't decrypt.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { deriveKeys, firstOf, type KeyRing } from "./key-ring.ts";

const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface Encryption {
  /** @param row names the row, e.g. `signing-key|<org>|<kid>` */
  seal(plaintext: Uint8Array, row: string): string;
  /** @throws when the ciphertext was modified, moved to another row, or encrypted under a master key that is not known */
  open(sealed: string, row: string): Buffer;
  /** The same under the master key in use; undefined when it is already. @throws like `open` */
  renew(sealed: string, row: string): string | undefined;
}

export function createEncryption(masterKeys: KeyRing): Encryption {
  const keys = deriveKeys(masterKeys, "data-at-rest");
  const open = (sealed: string, row: string) => {
    const bytes = bytesOf(sealed);
    const opened = firstOf(keys, (key) => decrypt(key, bytes, row));
    if (opened === undefined) throw new Error("no master key that is known decrypts it");
    return opened;
  };
  const seal = (plaintext: Uint8Array, row: string) => encrypt(keys.all()[0], plaintext, row);
  return {
    seal,
    open,
    renew: (sealed, row) => {
      const current = decrypt(keys.all()[0], bytesOf(sealed), row);
      const plaintext = current ?? open(sealed, row);
      const renewed = current === undefined ? seal(plaintext, row) : undefined;
      plaintext.fill(0);
      return renewed;
    },
  };
}

function encrypt(key: Buffer, plaintext: Uint8Array, row: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(Buffer.from(row));
  const parts = [iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
  return `${VERSION}.${Buffer.concat(parts).toString("base64url")}`;
}

function bytesOf(sealed: string): Buffer {
  const [version, encoded] = sealed.split(".");
  if (version !== VERSION || !encoded) throw new Error("not a Signet ciphertext");
  const bytes = Buffer.from(encoded, "base64url");
  if (bytes.length < IV_BYTES + TAG_BYTES) throw new Error("not a Signet ciphertext");
  return bytes;
}

/** Undefined under another key, as another row's, and when it was altered: GCM can't tell these apart. */
function decrypt(key: Buffer, bytes: Buffer, row: string): Buffer | undefined {
  const tagAt = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(row));
  decipher.setAuthTag(bytes.subarray(tagAt));
  const plaintext = decipher.update(bytes.subarray(IV_BYTES, tagAt));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    return undefined;
  }
}

const KEYS = 256;

/**
 * For short-lived data that is encrypted very often. AES-GCM with random nonces allows 2^32 messages per key (NIST SP
 * 800-38D §8.3), which a busy service would reach in weeks. So the row selects one of many keys; together they last
 * for 500 messages a second over seventy years.
 * @param purpose separates keys, so that data of one purpose never decrypts under another
 */
export function shardedEncryption(masterKeys: KeyRing, purpose: string): Encryption {
  const ciphers = new Map<number, Encryption>();
  const keyOf = (row: string): Encryption => {
    const index = createHash("sha256").update(row).digest().readUInt16BE() % KEYS;
    const known = ciphers.get(index);
    if (known) return known;
    const encryption = createEncryption(deriveKeys(masterKeys, `${purpose}|${index}`));
    ciphers.set(index, encryption);
    return encryption;
  };
  return {
    seal: (plaintext, row) => keyOf(row).seal(plaintext, row),
    open: (sealed, row) => keyOf(row).open(sealed, row),
    renew: (sealed, row) => keyOf(row).renew(sealed, row),
  };
}

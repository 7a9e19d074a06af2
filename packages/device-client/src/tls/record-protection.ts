/** TLS 1.3 records under one traffic secret (RFC 8446 §5.2, §7.1, §7.3). */
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

export interface CipherSuite {
  readonly hash: "sha256" | "sha384";
  readonly hashBytes: number;
  readonly aead: "aes-128-gcm" | "aes-256-gcm" | "chacha20-poly1305";
  readonly keyBytes: number;
}

const aes128: CipherSuite = { hash: "sha256", hashBytes: 32, aead: "aes-128-gcm", keyBytes: 16 };
const aes256: CipherSuite = { hash: "sha384", hashBytes: 48, aead: "aes-256-gcm", keyBytes: 32 };
const chacha: CipherSuite = { hash: "sha256", hashBytes: 32, aead: "chacha20-poly1305", keyBytes: 32 };

/** RFC 8446 appendix B.4. */
export const cipherSuites: ReadonlyMap<number, CipherSuite> = new Map([
  [0x1301, aes128],
  [0x1302, aes256],
  [0x1303, chacha],
]);

/** The same ones, for OpenSSL: no others are offered. */
export const OFFERED_CIPHERS = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

export const contentTypes = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;

const TAG_BYTES = 16;
const IV_BYTES = 12;
const HEADER_BYTES = 5;
const MAX_PLAINTEXT = 16_384;
const LEGACY_VERSION = 0x0303;

export class TlsFault extends Error {
  override name = "TlsFault";
}

/** HKDF-Expand-Label with an empty context; every length needed here fits into one hash block. */
export function expandLabel(suite: CipherSuite, secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([
    Buffer.from([length >> 8, length & 0xff, name.length]),
    name,
    Buffer.from([0]),
  ]);
  return createHmac(suite.hash, secret)
    .update(info)
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, length);
}

export type RecordProtection = ReturnType<typeof recordProtection>;

/** Counts records: pass each one exactly once, in order. */
export function recordProtection(suite: CipherSuite, secret: Buffer) {
  const key = expandLabel(suite, secret, "key", suite.keyBytes);
  const iv = expandLabel(suite, secret, "iv", IV_BYTES);
  const options = { authTagLength: TAG_BYTES };
  let count = 0n;
  const nextNonce = (): Buffer => {
    const nonce = Buffer.from(iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(IV_BYTES - 8) ^ count, IV_BYTES - 8);
    count += 1n;
    return nonce;
  };
  const sealOne = (type: number, content: Buffer): Buffer => {
    const header = recordHeader(contentTypes.applicationData, content.length + 1 + TAG_BYTES);
    const cipher = createCipheriv(suite.aead as "aes-128-gcm", key, nextNonce(), options);
    cipher.setAAD(header);
    const sealed = [cipher.update(content), cipher.update(Buffer.from([type])), cipher.final()];
    return Buffer.concat([header, ...sealed, cipher.getAuthTag()]);
  };
  return {
    /** @throws TlsFault when the record was not sealed with this secret, or is out of sequence */
    open: (record: Buffer) => {
      const body = record.subarray(HEADER_BYTES);
      if (body.length < TAG_BYTES + 1) throw new TlsFault("record too short");
      const decipher = createDecipheriv(suite.aead as "aes-128-gcm", key, nextNonce(), options);
      decipher.setAAD(record.subarray(0, HEADER_BYTES));
      decipher.setAuthTag(body.subarray(-TAG_BYTES));
      return unpadded(decipher.update(body.subarray(0, -TAG_BYTES)), () => decipher.final());
    },
    seal: (type: number, content: Buffer): Buffer => {
      const parts: Buffer[] = [];
      for (let at = 0; at < content.length; at += MAX_PLAINTEXT)
        parts.push(sealOne(type, content.subarray(at, at + MAX_PLAINTEXT)));
      return Buffer.concat(parts);
    },
  };
}

/** The last nonzero byte is the content type (RFC 8446 §5.4). */
function unpadded(plain: Buffer, finish: () => Buffer): { type: number; content: Buffer } {
  try {
    finish();
  } catch {
    throw new TlsFault("record sealed with another key");
  }
  let end = plain.length - 1;
  while (end > 0 && plain[end] === 0) end -= 1;
  return { type: plain[end] ?? 0, content: plain.subarray(0, Math.max(0, end)) };
}

function recordHeader(type: number, length: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(type, 0);
  header.writeUInt16BE(LEGACY_VERSION, 1);
  header.writeUInt16BE(length, 3);
  return header;
}

/** Splits a stream of bytes into records. @throws TlsFault for one longer than TLS 1.3 allows */
export function recordSplitter(): (bytes: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const records: Buffer[] = [];
    while (rest.length >= HEADER_BYTES) {
      const length = rest.readUInt16BE(3);
      if (length > MAX_PLAINTEXT + 256) throw new TlsFault("record too long");
      if (rest.length < HEADER_BYTES + length) break;
      records.push(rest.subarray(0, HEADER_BYTES + length));
      rest = rest.subarray(HEADER_BYTES + length);
    }
    return records;
  };
}

export const contentOf = (record: Buffer): Buffer => record.subarray(HEADER_BYTES);

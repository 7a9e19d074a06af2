/** The messages of TLS 1.3 client authentication (RFC 8446 §4). */
import { createHash, createHmac } from "node:crypto";
import { type CipherSuite, cipherSuites, expandLabel, TlsFault } from "./record-protection.ts";

export const handshakeTypes = {
  clientHello: 1,
  serverHello: 2,
  certificate: 11,
  certificateRequest: 13,
  certificateVerify: 15,
  finished: 20,
  messageHash: 254,
} as const;

export interface HandshakeMessage {
  readonly type: number;
  readonly body: Buffer;
  /** Including its four-byte header, as in the transcript hash. */
  readonly raw: Buffer;
}

/** Marks a HelloRetryRequest (§4.1.3). */
const RETRY_RANDOM = Buffer.from("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c", "hex");
const SIGNATURE_ALGORITHMS = 13;

/** The complete messages; the rest may be the beginning of another one. */
export function readMessages(bytes: Buffer): HandshakeMessage[] {
  const messages: HandshakeMessage[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUIntBE(at + 1, 3);
    if (end > bytes.length) break;
    const raw = bytes.subarray(at, end);
    messages.push({ type: raw[0] ?? 0, body: raw.subarray(4), raw });
    at = end;
  }
  return messages;
}

export function message(type: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt8(type, 0);
  header.writeUIntBE(body.length, 1, 3);
  return Buffer.concat([header, body]);
}

/** @throws TlsFault for a cipher suite that was not offered */
export function readServerHello({ body }: HandshakeMessage): { suite: CipherSuite; isRetry: boolean } {
  const sessionBytes = body[34] ?? 0;
  const at = 35 + sessionBytes;
  const suite = body.length >= at + 2 ? cipherSuites.get(body.readUInt16BE(at)) : undefined;
  if (!suite) throw new TlsFault("the server does not support TLS 1.3");
  return { suite, isRetry: body.subarray(2, 34).equals(RETRY_RANDOM) };
}

/** Replaces the first ClientHello in the transcript after a HelloRetryRequest (§4.4.1). */
export const retryHash = (suite: CipherSuite, clientHello: Buffer): Buffer =>
  message(handshakeTypes.messageHash, createHash(suite.hash).update(clientHello).digest());

export interface CertificateRequest {
  readonly context: Buffer;
  /** §4.2.3. */
  readonly signatureSchemes: readonly number[];
}

export function readCertificateRequest({ body }: HandshakeMessage): CertificateRequest {
  const contextEnd = 1 + (body[0] ?? 0);
  if (body.length < contextEnd + 2) throw new TlsFault("truncated CertificateRequest");
  const schemes: number[] = [];
  for (let at = contextEnd + 2; at + 4 <= body.length; ) {
    const [type, length] = [body.readUInt16BE(at), body.readUInt16BE(at + 2)];
    const value = body.subarray(at + 4, at + 4 + length);
    if (value.length < length) throw new TlsFault("truncated CertificateRequest");
    // The list starts with its own length.
    if (type === SIGNATURE_ALGORITHMS)
      for (let index = 2; index + 2 <= length; index += 2) schemes.push(value.readUInt16BE(index));
    at += 4 + length;
  }
  return { context: body.subarray(1, contextEnd), signatureSchemes: schemes };
}

/** @param chain DER, leaf first */
export function certificateMessage(context: Buffer, chain: readonly Buffer[]): Buffer {
  const list = Buffer.concat(chain.map((der) => Buffer.concat([uint(3, der.length), der, uint(2, 0)])));
  return message(
    handshakeTypes.certificate,
    Buffer.concat([uint(1, context.length), context, uint(3, list.length), list]),
  );
}

/** The content of CertificateVerify (§4.4.3). @param transcript hash up to the client's Certificate */
export const signedByClient = (transcript: Buffer): Buffer =>
  Buffer.concat([Buffer.alloc(64, 0x20), Buffer.from("TLS 1.3, client CertificateVerify\0"), transcript]);

export const certificateVerifyMessage = (scheme: number, signature: Buffer): Buffer =>
  message(
    handshakeTypes.certificateVerify,
    Buffer.concat([uint(2, scheme), uint(2, signature.length), signature]),
  );

/** §4.4.4. @param secret the client's handshake traffic secret. @param transcript hash of all previous messages */
export function finishedMessage(suite: CipherSuite, secret: Buffer, transcript: Buffer): Buffer {
  const key = expandLabel(suite, secret, "finished", suite.hashBytes);
  return message(handshakeTypes.finished, createHmac(suite.hash, key).update(transcript).digest());
}

function uint(size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

/**
 * Experimental: TLS client authentication with a key in a TPM. Node's TLS needs the private key itself.
 *
 * OpenSSL performs the handshake as a client without a certificate: key exchange, server authentication, all keys. Only its last
 * messages, an empty Certificate and Finished, are replaced by the device's certificate, the TPM's signature and a new Finished.
 * TLS 1.3 derives the application keys from the messages up to the *server's* Finished (RFC 8446 §7.1), so both sides agree on
 * them. Only session resumption would notice the difference, and no session is resumed here.
 */
import { createHash } from "node:crypto";
import {
  type CertificateRequest,
  certificateMessage,
  certificateVerifyMessage,
  finishedMessage,
  type HandshakeMessage,
  handshakeTypes,
  readCertificateRequest,
  readMessages,
  readServerHello,
  retryHash,
  signedByClient,
} from "./handshake-messages.ts";
import {
  type CipherSuite,
  contentOf,
  contentTypes,
  type RecordProtection,
  recordProtection,
  recordSplitter,
  TlsFault,
} from "./record-protection.ts";

export interface ClientIdentity {
  /** DER, leaf first. */
  readonly chain: readonly Buffer[];
  /** E.g. 0x0403 for ecdsa_secp256r1_sha256 (RFC 8446 §4.2.3). */
  readonly signatureScheme: number;
  /** @returns the signature in the form TLS uses: DER for ECDSA */
  sign(data: Buffer): Promise<Buffer>;
}

export type ClientFlight = ReturnType<typeof clientFlight>;

/** Far more than any server's certificates and extensions. */
const MAX_HANDSHAKE_BYTES = 262_144;

type Secrets = Record<"client" | "server", Buffer | undefined>;

/** The plaintext messages: both hellos, and the cipher suite they agree on. */
function helloMessages() {
  const hellos: Buffer[] = [];
  let suite: CipherSuite | undefined;
  return {
    hellos,
    suite: () => suite,
    fromServer: (record: Buffer): void => {
      for (const one of readMessages(contentOf(record))) {
        if (one.type !== handshakeTypes.serverHello)
          throw new TlsFault("the server does not support TLS 1.3");
        const hello = readServerHello(one);
        if (hello.isRetry) hellos.splice(0, hellos.length, retryHash(hello.suite, Buffer.concat(hellos)));
        else suite = hello.suite;
        hellos.push(Buffer.from(one.raw));
      }
    },
  };
}

/** @param verified resolves when OpenSSL has verified the server's chain and name: nothing is signed for any other server */
export function clientFlight(identity: ClientIdentity, verified: Promise<void>) {
  const secrets: Secrets = { client: undefined, server: undefined };
  const open = helloMessages();
  const serverRecords: Buffer[] = [];
  const [splitServer, splitClient] = [recordSplitter(), recordSplitter()];
  let ownMessages: Buffer = Buffer.alloc(0);
  let ownKeys: RecordProtection | undefined;
  let isDone = false;

  const serverRecord = (record: Buffer): void => {
    if (record[0] === contentTypes.applicationData) serverRecords.push(Buffer.from(record));
    if (record[0] === contentTypes.handshake) open.fromServer(record);
    if (serverRecords.reduce((sum, { length }) => sum + length, 0) > MAX_HANDSHAKE_BYTES)
      throw new TlsFault("the server's handshake is too long");
  };

  /** @returns the record unchanged, nothing, or the new flight */
  const clientRecord = async (record: Buffer): Promise<Buffer> => {
    if (isDone) return record;
    if (record[0] === contentTypes.handshake) open.hellos.push(Buffer.from(contentOf(record)));
    if (record[0] !== contentTypes.applicationData) return record;
    const suite = open.suite();
    const { client: secret, server } = secrets;
    if (!suite || !secret || !server) throw new TlsFault("the handshake keys are missing");
    ownKeys ??= recordProtection(suite, secret);
    const { type, content } = ownKeys.open(record);
    // An alert is the first record under these keys, so it can go out unchanged.
    if (type !== contentTypes.handshake) return record;
    ownMessages = Buffer.concat([ownMessages, content]);
    const own = readMessages(ownMessages);
    if (own.at(-1)?.type !== handshakeTypes.finished) return Buffer.alloc(0);
    isDone = true;
    await verified;
    const fromServer = openFlight(recordProtection(suite, server), serverRecords);
    const flight = await buildFlight(identity, { suite, secret, hellos: open.hellos, fromServer, own });
    return recordProtection(suite, secret).seal(contentTypes.handshake, flight);
  };

  return {
    /** A line of Node's `keylog` event. */
    keylog: (line: string): void => recordSecret(secrets, line),
    /** Observes bytes from the server, which reach OpenSSL unchanged. @throws TlsFault */
    fromServer: (bytes: Buffer): void => {
      if (!isDone) for (const record of splitServer(bytes)) serverRecord(record);
    },
    /** Bytes that OpenSSL wants to send. @returns what to send instead. @throws TlsFault, and whatever `sign` throws */
    fromClient: async (bytes: Buffer): Promise<Buffer> => {
      const sent: Buffer[] = [];
      for (const record of splitClient(bytes)) sent.push(await clientRecord(record));
      return Buffer.concat(sent);
    },
  };
}

/** `LABEL client-random secret`, in hexadecimal (the SSLKEYLOGFILE format). */
function recordSecret(secrets: Secrets, line: string): void {
  const [label, , secret = ""] = line.trim().split(" ");
  if (label === "CLIENT_HANDSHAKE_TRAFFIC_SECRET") secrets.client = Buffer.from(secret, "hex");
  if (label === "SERVER_HANDSHAKE_TRAFFIC_SECRET") secrets.server = Buffer.from(secret, "hex");
}

/** The server's messages up to its Finished; what follows is under other keys. */
function openFlight(keys: RecordProtection, records: readonly Buffer[]): HandshakeMessage[] {
  let bytes: Buffer = Buffer.alloc(0);
  for (const record of records) {
    const { type, content } = keys.open(record);
    if (type !== contentTypes.handshake) throw new TlsFault("the server's handshake is interrupted");
    bytes = Buffer.concat([bytes, content]);
    const messages = readMessages(bytes);
    if (messages.some((one) => one.type === handshakeTypes.finished)) return messages;
  }
  throw new TlsFault("the server's handshake has no Finished");
}

interface Flight {
  readonly suite: CipherSuite;
  readonly secret: Buffer;
  readonly hellos: readonly Buffer[];
  readonly fromServer: readonly HandshakeMessage[];
  /** The messages that OpenSSL would have sent. */
  readonly own: readonly HandshakeMessage[];
}

async function buildFlight(identity: ClientIdentity, flight: Flight): Promise<Buffer> {
  const { suite, secret, hellos, fromServer, own } = flight;
  const requestMessage = fromServer.find(({ type }) => type === handshakeTypes.certificateRequest);
  if (!requestMessage) return Buffer.concat(own.map(({ raw }) => raw));
  const request = readCertificateRequest(requestMessage);
  requireAccepted(identity, request);
  const before = [...hellos, ...fromServer.map(({ raw }) => raw)];
  const hashed = (...more: Buffer[]) =>
    createHash(suite.hash)
      .update(Buffer.concat([...before, ...more]))
      .digest();
  const certificate = certificateMessage(request.context, identity.chain);
  const signature = await identity.sign(signedByClient(hashed(certificate)));
  const verify = certificateVerifyMessage(identity.signatureScheme, signature);
  return Buffer.concat([certificate, verify, finishedMessage(suite, secret, hashed(certificate, verify))]);
}

function requireAccepted({ signatureScheme }: ClientIdentity, { signatureSchemes }: CertificateRequest) {
  if (signatureSchemes.includes(signatureScheme)) return;
  const named = `0x${signatureScheme.toString(16).padStart(4, "0")}`;
  throw new TlsFault(`the server accepts no signature of this key's type (${named})`);
}

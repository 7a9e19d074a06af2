/**
 * Client authentication with a key that only signs, in a TPM: Node's TLS wants the private key itself.
 *
 * OpenSSL, without any certificate, makes the whole handshake: key exchange, the service's chain and name, all keys. Its last
 * messages say "no certificate" and Finished. Those alone are taken out and put in anew, with the certificate and the TPM's
 * signature. TLS 1.3 derives the keys of application data from the messages up to the *server's* Finished (RFC 8446 §7.1), so
 * both sides go on with the same keys as before. Resumption would differ; no session is resumed here.
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
  recordCutter,
  recordProtection,
  TlsFault,
} from "./record-protection.ts";

export interface ClientIdentity {
  /** DER, the device's own first. */
  readonly chain: readonly Buffer[];
  /** Of the key, e.g. 0x0403 for ecdsa_secp256r1_sha256 (RFC 8446 §4.2.3). */
  readonly signatureScheme: number;
  /** @returns the signature as TLS wants it: DER for ECDSA */
  sign(data: Buffer): Promise<Buffer>;
}

export interface ClientFlight {
  /** A line of Node's event `keylog`. */
  keylog(line: string): void;
  /** What came from the service; it goes on to OpenSSL untouched. @throws TlsFault */
  fromServer(bytes: Buffer): void;
  /** What OpenSSL wants to send. @returns what is sent in its place. @throws TlsFault, and whatever `sign` throws */
  fromClient(bytes: Buffer): Promise<Buffer>;
}

/** Far more than any certificates and extensions of a service take. */
const MOST_HANDSHAKE_BYTES = 262_144;

interface Secrets {
  client: Buffer | undefined;
  server: Buffer | undefined;
}

/** What goes over the line in the clear: both hellos, and which cipher suite they agree on. */
function helloMessages() {
  const hellos: Buffer[] = [];
  let suite: CipherSuite | undefined;
  return {
    hellos,
    suite: () => suite,
    fromServer: (record: Buffer): void => {
      for (const one of readMessages(contentOf(record))) {
        if (one.type !== handshakeTypes.serverHello) throw new TlsFault("the service does not speak TLS 1.3");
        const hello = readServerHello(one);
        if (hello.isRetry) hellos.splice(0, hellos.length, retryHash(hello.suite, Buffer.concat(hellos)));
        else suite = hello.suite;
        hellos.push(Buffer.from(one.raw));
      }
    },
  };
}

/** @param verified comes when OpenSSL has found the service's chain and name right: nothing is signed for anybody else */
export function clientFlight(identity: ClientIdentity, verified: Promise<void>): ClientFlight {
  const secrets: Secrets = { client: undefined, server: undefined };
  const open = helloMessages();
  const serverRecords: Buffer[] = [];
  const [cutServer, cutClient] = [recordCutter(), recordCutter()];
  let ownMessages: Buffer = Buffer.alloc(0);
  let ownKeys: RecordProtection | undefined;
  let isOver = false;

  const serverRecord = (record: Buffer): void => {
    if (record[0] === contentTypes.applicationData) serverRecords.push(Buffer.from(record));
    if (record[0] === contentTypes.handshake) open.fromServer(record);
    if (serverRecords.reduce((sum, { length }) => sum + length, 0) > MOST_HANDSHAKE_BYTES)
      throw new TlsFault("the service's handshake is too long");
  };

  /** @returns the record as it is, nothing, or the new flight */
  const clientRecord = async (record: Buffer): Promise<Buffer> => {
    if (isOver) return record;
    if (record[0] === contentTypes.handshake) open.hellos.push(Buffer.from(contentOf(record)));
    if (record[0] !== contentTypes.applicationData) return record;
    const suite = open.suite();
    const { client: secret, server } = secrets;
    if (!suite || !secret || !server) throw new TlsFault("the keys of the handshake are missing");
    ownKeys ??= recordProtection(suite, secret);
    const { type, content } = ownKeys.open(record);
    // An alert: it was the first of its keys, and so can go as it is.
    if (type !== contentTypes.handshake) return record;
    ownMessages = Buffer.concat([ownMessages, content]);
    const own = readMessages(ownMessages);
    if (own.at(-1)?.type !== handshakeTypes.finished) return Buffer.alloc(0);
    isOver = true;
    await verified;
    const fromServer = openFlight(recordProtection(suite, server), serverRecords);
    const flight = await newFlight(identity, { suite, secret, hellos: open.hellos, fromServer, own });
    return recordProtection(suite, secret).seal(contentTypes.handshake, flight);
  };

  return {
    keylog: (line) => noteSecret(secrets, line),
    fromServer: (bytes) => {
      if (!isOver) for (const record of cutServer(bytes)) serverRecord(record);
    },
    fromClient: async (bytes) => {
      const sent: Buffer[] = [];
      for (const record of cutClient(bytes)) sent.push(await clientRecord(record));
      return Buffer.concat(sent);
    },
  };
}

/** `LABEL client-random secret`, in hexadecimal (the SSLKEYLOGFILE format). */
function noteSecret(secrets: Secrets, line: string): void {
  const [label, , secret = ""] = line.trim().split(" ");
  if (label === "CLIENT_HANDSHAKE_TRAFFIC_SECRET") secrets.client = Buffer.from(secret, "hex");
  if (label === "SERVER_HANDSHAKE_TRAFFIC_SECRET") secrets.server = Buffer.from(secret, "hex");
}

/** The service's messages up to its Finished; what follows is under other keys. */
function openFlight(keys: RecordProtection, records: readonly Buffer[]): HandshakeMessage[] {
  let bytes: Buffer = Buffer.alloc(0);
  for (const record of records) {
    const { type, content } = keys.open(record);
    if (type !== contentTypes.handshake) throw new TlsFault("the service's handshake is interrupted");
    bytes = Buffer.concat([bytes, content]);
    const messages = readMessages(bytes);
    if (messages.some((one) => one.type === handshakeTypes.finished)) return messages;
  }
  throw new TlsFault("the service's handshake has no end");
}

interface Flight {
  readonly suite: CipherSuite;
  readonly secret: Buffer;
  readonly hellos: readonly Buffer[];
  readonly fromServer: readonly HandshakeMessage[];
  /** What OpenSSL would have sent. */
  readonly own: readonly HandshakeMessage[];
}

async function newFlight(identity: ClientIdentity, flight: Flight): Promise<Buffer> {
  const { suite, secret, hellos, fromServer, own } = flight;
  const asked = fromServer.find(({ type }) => type === handshakeTypes.certificateRequest);
  if (!asked) return Buffer.concat(own.map(({ raw }) => raw));
  const request = readCertificateRequest(asked);
  refuseUnusable(identity, request);
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

function refuseUnusable({ signatureScheme }: ClientIdentity, { signatureSchemes }: CertificateRequest): void {
  if (signatureSchemes.includes(signatureScheme)) return;
  const named = `0x${signatureScheme.toString(16).padStart(4, "0")}`;
  throw new TlsFault(`the service takes no signature of this key's kind (${named})`);
}

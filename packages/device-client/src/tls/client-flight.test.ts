/** The exchange of a client's last messages, with a handshake made of bytes. */
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign, verify } from "node:crypto";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { type ClientFlight, clientFlight } from "./client-flight.ts";
import {
  certificateMessage,
  finishedMessage,
  handshakeTypes,
  message,
  readMessages,
  signedByClient,
} from "./handshake-messages.ts";
import {
  cipherSuites,
  contentTypes,
  recordProtection,
  recordSplitter,
  TlsFault,
} from "./record-protection.ts";

const suite = cipherSuites.get(0x1301) ?? assert.fail();
const [clientSecret, serverSecret] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const chain = [Buffer.alloc(300, 7)];

const plain = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type, 3, 3, content.length >> 8, content.length & 0xff]), content]);
const clientHello = message(handshakeTypes.clientHello, Buffer.alloc(100, 3));
const serverHello = (cipherSuite = 0x1301) =>
  message(
    handshakeTypes.serverHello,
    Buffer.concat([Buffer.alloc(34, 4), Buffer.from([0, cipherSuite >> 8, cipherSuite & 0xff, 0, 0, 0])]),
  );
const context = Buffer.from("ctx");
const request = message(
  handshakeTypes.certificateRequest,
  Buffer.concat([Buffer.from([3]), context, Buffer.from([0, 8, 0, 13, 0, 4, 0, 2, 4, 3])]),
);
const serverFinished = message(handshakeTypes.finished, Buffer.alloc(32, 5));
const ownFlight = Buffer.concat([
  certificateMessage(context, []),
  message(handshakeTypes.finished, Buffer.alloc(32, 6)),
]);
const ticket = Buffer.from("17030300050102030405", "hex");

function handshake(verified: Promise<void>) {
  const state = { signatures: 0 };
  const flight = clientFlight(
    {
      chain,
      signatureScheme: 0x0403,
      sign: async (data) => {
        state.signatures += 1;
        return sign("sha256", data, privateKey);
      },
    },
    verified,
  );
  return { flight, state };
}

/** Up to where the client has its say. @param cut how many bytes arrive at once */
async function open(flight: ClientFlight, fromServer: Buffer, cut = 10_000): Promise<void> {
  const hello = plain(contentTypes.handshake, clientHello);
  assert.deepEqual(await flight.fromClient(hello), hello);
  const records = [
    plain(contentTypes.handshake, serverHello()),
    plain(contentTypes.changeCipherSpec, Buffer.from([1])),
  ];
  const bytes = Buffer.concat([...records, fromServer, ticket]);
  for (let at = 0; at < bytes.length; at += cut) flight.fromServer(bytes.subarray(at, at + cut));
  flight.keylog(`CLIENT_HANDSHAKE_TRAFFIC_SECRET 00 ${clientSecret.toString("hex")}\n`);
  flight.keylog(`SERVER_HANDSHAKE_TRAFFIC_SECRET 00 ${serverSecret.toString("hex")}\n`);
}

/** The server's flight in two records, a message across both of them. */
function serverFlight(...messages: Buffer[]): Buffer {
  const keys = recordProtection(suite, serverSecret);
  const bytes = Buffer.concat(messages);
  return Buffer.concat([
    keys.seal(contentTypes.handshake, bytes.subarray(0, 10)),
    keys.seal(contentTypes.handshake, bytes.subarray(10)),
  ]);
}
const sealed = (type: number, content: Buffer): Buffer =>
  recordProtection(suite, clientSecret).seal(type, content);

for (const cut of [10_000, 1])
  test(`certificate, signature and Finished replace OpenSSL's messages, ${cut} bytes at a time`, async () => {
    const { flight } = handshake(Promise.resolve());
    await open(flight, serverFlight(request, serverFinished), cut);
    const spec = plain(contentTypes.changeCipherSpec, Buffer.from([1]));
    assert.deepEqual(await flight.fromClient(spec), spec);
    const keys = recordProtection(suite, clientSecret);
    const [record, ...more] = recordSplitter()(
      await flight.fromClient(sealed(contentTypes.handshake, ownFlight)),
    );
    assert.ok(record && more.length === 0);
    const { type, content } = keys.open(record);
    const [certificate, proof, finished] = readMessages(content);
    assert.ok(type === contentTypes.handshake && certificate && proof && finished);
    assert.deepEqual(certificate.raw, certificateMessage(context, chain));
    const hashed = (...parts: Buffer[]) =>
      createHash("sha256")
        .update(Buffer.concat([clientHello, serverHello(), request, serverFinished, ...parts]))
        .digest();
    assert.equal(proof.body.readUInt16BE(0), 0x0403);
    const signature = proof.body.subarray(4);
    assert.ok(verify("sha256", signedByClient(hashed(certificate.raw)), publicKey, signature));
    assert.deepEqual(finished.raw, finishedMessage(suite, clientSecret, hashed(certificate.raw, proof.raw)));
    const data = Buffer.from("1703030003616263", "hex");
    assert.deepEqual(await flight.fromClient(data), data, "what follows is OpenSSL's own");
  });

test("nothing is signed or sent before the server is verified, or after its verification failed", async () => {
  const verified = Promise.withResolvers<void>();
  const { flight, state } = handshake(verified.promise);
  await open(flight, serverFlight(request, serverFinished));
  let sent = 0;
  const sending = flight.fromClient(sealed(contentTypes.handshake, ownFlight)).then(() => {
    sent += 1;
  });
  sending.catch(() => undefined);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  assert.deepEqual([state.signatures, sent], [0, 0]);
  verified.reject(new Error("another name"));
  await assert.rejects(sending, /another name/);
  assert.equal(state.signatures, 0);
});

test("OpenSSL's alerts go out unchanged", async () => {
  const { flight, state } = handshake(Promise.resolve());
  await open(flight, serverFlight(request, serverFinished));
  const alert = sealed(contentTypes.alert, Buffer.from([2, 42]));
  assert.deepEqual(await flight.fromClient(alert), alert);
  assert.equal(state.signatures, 0);
});

test("a handshake that is not TLS 1.3, is truncated or uses other keys fails and sends nothing", async () => {
  const other = handshake(Promise.resolve());
  const answered = () => other.flight.fromServer(plain(contentTypes.handshake, serverHello(0xc02b)));
  assert.throws(answered, TlsFault);
  const flights = [
    serverFlight(request, serverFinished.subarray(0, 20)),
    serverFlight(message(handshakeTypes.certificateRequest, Buffer.from([200, 1])), serverFinished),
    serverFlight(message(handshakeTypes.certificateRequest, Buffer.alloc(3)), serverFinished),
    sealed(contentTypes.handshake, Buffer.concat([request, serverFinished])),
  ];
  for (const [index, bytes] of flights.entries()) {
    const { flight, state } = handshake(Promise.resolve());
    await open(flight, bytes);
    await assert.rejects(
      flight.fromClient(sealed(contentTypes.handshake, ownFlight)),
      TlsFault,
      String(index),
    );
    assert.equal(state.signatures, 0);
  }
  const { flight } = handshake(Promise.resolve());
  await flight.fromClient(plain(contentTypes.handshake, clientHello));
  await assert.rejects(
    flight.fromClient(sealed(contentTypes.handshake, ownFlight)),
    /handshake keys are missing/,
  );
  const endless = Buffer.concat(
    Array.from({ length: 20 }, () => plain(contentTypes.applicationData, Buffer.alloc(16_000))),
  );
  assert.throws(() => flight.fromServer(endless), /too long/);
});

/** OCSP requests as openssl writes them, and everything that is none: one kind of error, and never anything else. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { childrenOf, DerError, readDer } from "@signet/protocol/der/der";
import {
  derInteger,
  derOctetString,
  derSequence,
  derText,
  derTrue,
  derValue,
} from "@signet/protocol/der/der-writer";
import { mutationsOf } from "@signet/protocol/testing/mutations";
import { type Openssl, openssl } from "../../../testing/openssl.ts";
import { createEncryption } from "../../encryption/encryption.ts";
import { keyRing } from "../../encryption/key-ring.ts";
import { createGeneration } from "../rotation.ts";
import { oid } from "../x509.ts";
import { MAX_IDS, MAX_REQUEST_BYTES, readOcspRequest } from "./ocsp-request.ts";

let ssl: Openssl;
/** SHA-1 and no nonce; SHA-256, a nonce and two certificates; signed. */
const written: Buffer[] = [];
before(async () => {
  ssl = await openssl();
  const encryption = createEncryption(keyRing(Buffer.alloc(32, 1)));
  const { open } = await createGeneration(
    { clock: Date.now, encryption },
    "01998d6e-0000-7000-8000-000000000001",
    1,
  );
  await ssl.write("ca.pem", open.certificatePem);
  const request = async (...args: string[]) => {
    const { code, text } = await ssl("ocsp", "-issuer", "@ca.pem", ...args, "-reqout", "@request.der");
    assert.equal(code, 0, text);
    written.push(await ssl.read("request.der"));
  };
  await request("-serial", "0x8000000000000000000000000000000f", "-no_nonce");
  await request("-sha256", "-serial", "0x01", "-serial", "0xff");
  await ssl(
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-subj",
    "/CN=me",
    "-keyout",
    "@me.key",
    "-out",
    "@me.pem",
  );
  await request("-serial", "0x02", "-signer", "@me.pem", "-signkey", "@me.key");
});
after(() => ssl.remove());

test("reads OCSP requests of openssl, also signed ones", () => {
  const [plain, double, signed] = written.map(readOcspRequest);
  assert.deepEqual(
    plain?.ids.map(({ hash, serial }) => [hash, serial]),
    [["sha1", "8000000000000000000000000000000f"]],
  );
  assert.equal(plain?.nonce, undefined);
  assert.deepEqual(
    double?.ids.map(({ hash, serial }) => [hash, serial]),
    [
      ["sha256", "1".padStart(32, "0")],
      ["sha256", "ff".padStart(32, "0")],
    ],
  );
  assert.ok(double?.nonce && written[1]?.includes(double.nonce));
  assert.equal(double?.ids[0]?.issuerKeyHash.length, 32);
  assert.equal(signed?.ids[0]?.serial, "2".padStart(32, "0"));
});

const NONCE = oid("1.3.6.1.5.5.7.48.1.2");
const id = derSequence(
  derSequence(oid("1.3.14.3.2.26")),
  derOctetString(Buffer.alloc(20)),
  derOctetString(Buffer.alloc(20)),
  derInteger(7),
);
const explicit = (number: number, content: Buffer) => derValue(0xa0 + number, content);
const ask = (...parts: Buffer[]) => derSequence(derSequence(...parts));
const list = (count: number) => derSequence(...Array.from({ length: count }, () => derSequence(id)));
const withNonce = (value: Buffer) =>
  ask(list(1), explicit(2, derSequence(derSequence(NONCE, derOctetString(value)))));
const refused = (bytes: Buffer, about: string) =>
  assert.throws(() => readOcspRequest(bytes), DerError, about);

test("a nonce has 1 to 128 bytes, a request 1 to 16 certificates and 8 KiB (RFC 9654 §2.1)", () => {
  for (const length of [1, 16, 32, 128])
    assert.ok(readOcspRequest(withNonce(derOctetString(randomBytes(length)))).nonce);
  for (const length of [0, 129]) refused(withNonce(derOctetString(randomBytes(length))), `${length} bytes`);
  refused(withNonce(randomBytes(16)), "no octet string inside");
  assert.equal(readOcspRequest(ask(list(MAX_IDS))).ids.length, MAX_IDS);
  refused(ask(list(0)), "no certificate");
  refused(ask(list(MAX_IDS + 1)), "too many");
  const padding = derValue(0xa1, derValue(0x86, Buffer.alloc(MAX_REQUEST_BYTES)));
  refused(ask(padding, list(1)), "too large");
});

test("ignores unknown non-critical extensions, and rejects critical and repeated ones", () => {
  const extension = (...parts: Buffer[]) =>
    derSequence(oid("1.2.3.4"), ...parts, derOctetString(derText("x")));
  const around = (...extensions: Buffer[]) => ask(list(1), explicit(2, derSequence(...extensions)));
  const single = (one: Buffer) => ask(derSequence(derSequence(id, explicit(0, derSequence(one)))));
  const notCritical = derValue(0x01, Buffer.from([0]));
  for (const request of [around(extension()), around(extension(notCritical)), single(extension())])
    assert.equal(readOcspRequest(request).nonce, undefined);
  refused(around(extension(derTrue)), "critical");
  refused(single(extension(derTrue)), "critical for one certificate");
  refused(around(extension(), extension()), "twice");
});

test("accepts optional parts, and rejects other versions, orders and counts", () => {
  const version = (number: number) => explicit(0, derInteger(number));
  const name = explicit(1, derValue(0x86, Buffer.from("urn:me")));
  assert.equal(readOcspRequest(ask(version(0), name, list(1))).ids.length, 1);
  refused(ask(version(1), list(1)), "version 2");
  refused(ask(name, version(0), list(1)), "order");
  refused(ask(list(1), list(1)), "two lists");
  refused(derSequence(derSequence(list(1)), derSequence()), "no signature");
  refused(derSequence(), "nothing");
  const parameters = derSequence(
    derSequence(oid("1.3.14.3.2.26"), derInteger(1)),
    ...childrenOf(readDer(id, 0x30))
      .slice(1)
      .map(({ raw }) => raw),
  );
  refused(ask(derSequence(derSequence(parameters))), "a hash with parameters");
  const numbers = [
    derValue(0x02, Buffer.from([0x80])),
    // The first of 17 bytes not zero, else they are 16.
    derInteger(Buffer.concat([Buffer.from([1]), randomBytes(16)])),
    derValue(0x02, Buffer.from([0, 1])),
  ];
  for (const number of numbers) {
    const other = derSequence(derSequence(oid("2.5.4.3")), derOctetString(id), derOctetString(id), number);
    const [read] = readOcspRequest(ask(derSequence(derSequence(other)))).ids;
    assert.deepEqual(
      [read?.hash, read?.serial],
      [undefined, undefined],
      "of nobody here, and answered as unknown",
    );
  }
});

test("malformed requests are rejected with DerError only", () => {
  const all = process.env["SIGNET_TEST_WHOLE"] === "1";
  let refusals = 0;
  const tryOne = (bytes: Buffer) => {
    try {
      const { ids, nonce } = readOcspRequest(bytes);
      assert.ok(ids.length >= 1 && ids.length <= MAX_IDS && (nonce?.length ?? 1) > 0);
    } catch (error) {
      if (!(error instanceof DerError)) throw error;
      refusals++;
    }
  };
  for (const request of written) {
    for (const mutated of mutationsOf(request)) tryOne(mutated);
    for (let length = 0; length < request.length; length++)
      refused(request.subarray(0, length), `cut at ${length}`);
    refused(Buffer.concat([request, Buffer.alloc(1)]), "a trailing byte");
  }
  assert.ok(refusals > 500, `${refusals}`);
  for (let count = 0; count < (all ? 50_000 : 2_000); count++) {
    const bytes = Buffer.from(written[count % written.length] ?? []);
    for (let changes = 0; changes < 4; changes++)
      bytes[randomBytes(2).readUInt16BE() % bytes.length] = randomBytes(1)[0] ?? 0;
    tryOne(bytes);
  }
  // Nested as deep as the bytes go.
  let nested: Buffer = Buffer.alloc(0);
  for (let depth = 0; depth < 2_000; depth++) nested = derSequence(nested);
  refused(nested, "depth");
  refused(Buffer.alloc(MAX_REQUEST_BYTES, 0x30), "sequences without end");
});

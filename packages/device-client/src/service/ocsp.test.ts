/** What is believed of an OCSP answer: only what the CA has signed for this certificate, lately. */
import assert from "node:assert/strict";
import { type KeyObject, sign, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { childrenOf, readDer } from "@signet/protocol/der/der";
import {
  derBitString,
  derOctetString,
  derOid,
  derSequence,
  derTime,
  derValue,
} from "@signet/protocol/der/der-writer";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { ocspRequest, readOcspResponse } from "./ocsp.ts";

const ca = testCertificate({ subject: "ca", isCa: true });
const now = Date.now();
const issuer = new X509Certificate(ca.der);
const certified = (subject: string) => new X509Certificate(testCertificate({ subject, issuer: ca }).der);
const certificate = certified("device");

/** CertID of a request: four layers down. */
function idOf(asked: X509Certificate): Buffer {
  let element = readDer(ocspRequest(asked, issuer), 0x30);
  for (let layer = 0; layer < 4; layer += 1) element = childrenOf(element)[0] ?? element;
  return element.raw;
}

interface Change {
  readonly status?: Buffer;
  readonly about?: X509Certificate;
  readonly signer?: KeyObject;
  readonly from?: number;
  readonly until?: number | null;
  readonly algorithm?: string;
  readonly type?: string;
  readonly responseStatus?: number;
}

function response(change: Change = {}): Buffer {
  const { about = certificate, from = now, until = from + 300_000, status = derValue(0x80) } = change;
  const next = until === null ? [] : [derValue(0xa0, derTime(new Date(until)))];
  const single = derSequence(idOf(about), status, derTime(new Date(from)), ...next);
  const responder = derValue(0xa2, derOctetString(Buffer.alloc(20)));
  const data = derSequence(responder, derTime(new Date(from)), derSequence(single));
  const signature = sign("sha256", data, change.signer ?? ca.privateKey);
  const algorithm = derSequence(derOid(change.algorithm ?? "2a8648ce3d040302"));
  const basic = derSequence(data, algorithm, derBitString(signature));
  const typed = derSequence(derOid(change.type ?? "2b0601050507300101"), derOctetString(basic));
  return derSequence(derValue(0x0a, Buffer.from([change.responseStatus ?? 0])), derValue(0xa0, typed));
}

const read = (bytes: Buffer) => readOcspResponse(bytes, { certificate, issuer, now });
const revoked = (reason?: number) =>
  derValue(
    0xa1,
    derTime(new Date(Date.UTC(2026, 0, 2))),
    ...(reason === undefined ? [] : [derValue(0xa0, derValue(0x0a, Buffer.from([reason])))]),
  );

test("good, revoked and unknown are told apart", () => {
  assert.deepEqual(read(response()), { kind: "good" });
  assert.deepEqual(read(response({ until: null })), { kind: "good" });
  assert.deepEqual(read(response({ status: derValue(0x82) })), { kind: "unknown" });
  const at = "2026-01-02T00:00:00.000Z";
  assert.deepEqual(read(response({ status: revoked(1) })), { kind: "revoked", at, reason: 1 });
  assert.deepEqual(read(response({ status: revoked() })), { kind: "revoked", at, reason: undefined });
});

test("what the CA has not signed, is for another certificate, or of another time, is not believed", () => {
  const forger = testCertificate({ subject: "ca", isCa: true }).privateKey;
  const faults: Change[] = [
    { signer: forger },
    { about: certified("another") },
    { from: now - 3_600_000 },
    { from: now - 25 * 3_600_000, until: null },
    { from: now + 3_600_000, until: now + 7_200_000 },
    { algorithm: "2a8648ce3d0401" },
    { type: "2b0601050507300102" },
    { responseStatus: 1 },
  ];
  for (const fault of faults) assert.throws(() => read(response(fault)), Error, JSON.stringify(fault));
});

test("no byte of an answer can be another one", () => {
  const bytes = response({ status: revoked(1) });
  let believed = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed[at] ?? 0) ^ 0x01, at);
    try {
      read(changed);
      believed += 1;
    } catch (error) {
      assert.ok(error instanceof Error);
    }
  }
  assert.equal(believed, 0);
});

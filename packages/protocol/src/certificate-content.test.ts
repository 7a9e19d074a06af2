import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { certifiedKeyOf } from "./certificate-algorithms.ts";
import { readCertificateContent } from "./certificate-content.ts";
import { DerError } from "./der.ts";
import { derValue } from "./der-writer.ts";
import { testCertificate } from "./testing/test-certificate.ts";

const certificate = testCertificate({
  subject: "Agent",
  uris: ["https://id.example/pool"],
  validFrom: new Date("2026-02-28T23:59:59Z"),
  validTo: new Date("2027-11-21T10:11:12Z"),
});

test("what is read is what node:crypto reads, from a Buffer and from any other bytes", () => {
  const known = new X509Certificate(certificate.der);
  for (const bytes of [certificate.der, Uint8Array.from(certificate.der)]) {
    const read = readCertificateContent(bytes);
    assert.equal(read.validFrom, known.validFromDate.getTime());
    assert.equal(read.validTo, known.validToDate.getTime());
    assert.equal(Buffer.from(read.serial).toString("hex").toUpperCase(), known.serialNumber);
    assert.deepEqual(read.subjectUris, ["https://id.example/pool"]);
    assert.deepEqual(certifiedKeyOf(read.keyInfo)?.jwk, known.publicKey.export({ format: "jwk" }));
    assert.equal(Buffer.isBuffer(read.subject), Buffer.isBuffer(bytes));
  }
});

test("times have the two forms of RFC 5280 and no others", () => {
  const from = (tag: number, text: string) => {
    const { der } = testCertificate({ subject: "Agent", validFrom: derValue(tag, Buffer.from(text)) });
    return readCertificateContent(der).validFrom;
  };
  const [utc, general] = [0x17, 0x18];
  assert.equal(from(utc, "260228235959Z"), Date.UTC(2026, 1, 28, 23, 59, 59));
  assert.equal(from(utc, "500101000000Z"), Date.UTC(1950, 0, 1));
  assert.equal(from(utc, "491231235959Z"), Date.UTC(2049, 11, 31, 23, 59, 59));
  assert.equal(from(general, "20260228235959Z"), Date.UTC(2026, 1, 28, 23, 59, 59));
  assert.equal(from(general, "99991231235959Z"), Date.UTC(9999, 11, 31, 23, 59, 59));
  for (const [tag, text] of [
    [utc, "2602282359Z"],
    [utc, "260228235959+0000"],
    [utc, "20260228235959Z"],
    [utc, "260230000000Z"],
    [utc, "261301000000Z"],
    [utc, "260228245959Z"],
    [general, "260228235959Z"],
    [general, "20260228235959.5Z"],
    [general, "20260228235960Z"],
    [general, "20260228235959"],
    [0x0c, "20260228235959Z"],
  ] as const)
    assert.throws(() => from(tag, text), DerError, text);
});

test("whatever is changed or cut, it is read or refused, and nothing else", () => {
  fc.assert(
    fc.property(
      fc.nat(certificate.der.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      (at, flip, isCut) => {
        const der = Buffer.from(isCut ? certificate.der.subarray(0, at) : certificate.der);
        if (!isCut) der[at] = (der[at] ?? 0) ^ flip;
        try {
          certifiedKeyOf(readCertificateContent(der).keyInfo);
        } catch (error) {
          assert.ok(error instanceof DerError, String(error));
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

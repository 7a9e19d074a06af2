import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { childrenOf, DerError, derTags, expectTag, readDer } from "../der/der.ts";
import { derInteger, derNull, derOid, derSequence, derText, derTrue, derValue } from "../der/der-writer.ts";
import { extension, testCertificate } from "../testing/test-certificate.ts";
import { certifiedKeyOf } from "./certificate-algorithms.ts";
import { readCertificateContent } from "./certificate-content.ts";

const certificate = testCertificate({
  subject: "Agent",
  uris: ["https://id.example/pool"],
  validFrom: new Date("2026-02-28T23:59:59Z"),
  validTo: new Date("2027-11-21T10:11:12Z"),
});

test("reads the same as node:crypto, from a Buffer and from any Uint8Array", () => {
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

test("accepts only the two time formats of RFC 5280", () => {
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

/** The same certificate with the parts of what is signed changed: whose signature it is nobody looks at here. */
function rebuilt(change: (parts: Buffer[]) => Buffer[]): Buffer {
  const [body, ...rest] = childrenOf(readDer(certificate.der, derTags.sequence));
  const parts = childrenOf(expectTag(body, derTags.sequence)).map(({ raw }) => raw);
  return derSequence(derSequence(...change(parts)), ...rest.map(({ raw }) => raw));
}
const withPart = (at: number, part: Buffer) => rebuilt((parts) => parts.with(at, part));
const withSubject = (...attribute: Buffer[]) =>
  withPart(5, derSequence(derValue(0x31, derSequence(...attribute))));
const withMore = (...more: Buffer[]) => testCertificate({ subject: "Agent", more }).der;
const commonName = derOid("550403");
const keyId = derValue(0x80, Buffer.from("key"));
const constraints = (...parts: Buffer[]) =>
  withPart(7, derValue(0xa3, derSequence(extension("551d13", derSequence(...parts)))));

const odd: ReadonlyArray<readonly [what: string, der: Buffer]> = [
  ["a version of two numbers", withPart(0, derValue(0xa0, derInteger(2), derInteger(2)))],
  ["extensions twice", rebuilt((parts) => [...parts, parts.at(-1) ?? derNull])],
  ["something after the extensions", rebuilt((parts) => [...parts, derValue(0x81, Buffer.from([0, 1]))])],
  ["two lists of extensions", withPart(7, derValue(0xa3, derSequence(), derSequence()))],
  ["an extension of four parts", withMore(derSequence(derOid("2a03"), derTrue, derText(""), derNull))],
  ["an OID that ends in the middle", withMore(extension("2a83", derNull))],
  ["an OID written longer than need be", withMore(extension("2a8003", derNull))],
  ["a serial number written longer than need be", withPart(1, derValue(0x02, Buffer.from([0, 1])))],
  ["a name that is a list of texts", withPart(5, derSequence(derText("Agent")))],
  ["a name with an empty part", withPart(5, derSequence(derValue(0x31)))],
  ["a name's part of three", withSubject(commonName, derText("Agent"), derNull)],
  ["a name that is a number", withSubject(commonName, derInteger(1))],
  ["a name that is not UTF-8", withSubject(commonName, derValue(0x0c, Buffer.from([0xff])))],
  ["half a character", withSubject(commonName, derValue(0x1e, Buffer.from([0, 65, 0])))],
  ["bits that are none", withSubject(commonName, derValue(0x03, Buffer.from([8, 1])))],
  ["basic constraints in another order", constraints(derInteger(0), derTrue)],
  ["basic constraints of three parts", constraints(derTrue, derInteger(0), derNull)],
  ["key identifiers twice", withMore(extension("551d23", derSequence(keyId, keyId)))],
  ["key identifiers of another tag", withMore(extension("551d23", derSequence(derText("key"))))],
  ["an issuer's name that is none", withMore(extension("551d23", derSequence(derValue(0xa1, derNull))))],
  ["an alternative name that is none", withMore(extension("551d11", derSequence(derTrue)))],
];
for (const [what, der] of odd)
  test(`rejects ${what}`, () => {
    assert.throws(() => readCertificateContent(der), DerError);
  });

test("reads the unmodified certificates", () => {
  const good = [
    rebuilt((parts) => parts),
    withSubject(commonName, derText("Agent")),
    withPart(5, derSequence()),
    constraints(derTrue, derInteger(0)),
    withMore(extension("551d23", derSequence(keyId, derValue(0xa1, derValue(0x82)), derValue(0x82)))),
    withMore(extension("2a03", derNull)),
    rebuilt((parts) => parts.toSpliced(7, 0, derValue(0x81, Buffer.from([0, 1])))),
  ];
  for (const der of good) readCertificateContent(der);
});

test("a mutated or truncated certificate is parsed or rejected, and never throws", () => {
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

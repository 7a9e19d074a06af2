import assert from "node:assert/strict";
import { test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { parseStoredCertificates } from "./endorsement-key.ts";

const [one, two] = ["one", "two"].map((subject) => testCertificate({ subject }).der);

test("certificates are found in padded NV memory, and behind an older header", () => {
  assert.ok(one && two);
  const fingerprints = (bytes: Buffer) => parseStoredCertificates(bytes).map(({ raw }) => raw);
  assert.deepEqual(fingerprints(one), [one]);
  assert.deepEqual(fingerprints(Buffer.concat([one, Buffer.alloc(300)])), [one]);
  assert.deepEqual(fingerprints(Buffer.concat([one, Buffer.alloc(300, 0xff)])), [one]);
  assert.deepEqual(fingerprints(Buffer.concat([Buffer.from("1001000000", "hex"), one])), [one]);
  assert.deepEqual(fingerprints(Buffer.concat([one, two])), [one, two]);
  assert.deepEqual(fingerprints(Buffer.concat([one, two.subarray(0, 100)])), [one]);
});

test("data that only starts like a certificate is ignored", () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(800),
    Buffer.from("3082ffff00", "hex"),
    Buffer.alloc(600, 0x30),
  ])
    assert.deepEqual(parseStoredCertificates(bytes), []);
  const broken = Buffer.concat([Buffer.from("30820200", "hex"), Buffer.alloc(512, 5)]);
  assert.deepEqual(parseStoredCertificates(broken), []);
});

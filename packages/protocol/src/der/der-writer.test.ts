import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { childrenOf, derTags, readDer, requireDerThroughout, smallInteger } from "./der.ts";
import {
  derBitString,
  derInteger,
  derName,
  derOctetString,
  derOid,
  derSequence,
  derTime,
} from "./der-writer.ts";

const hex = (bytes: Buffer) => bytes.toString("hex");

test("writes lengths in their shortest form", () => {
  for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
    const written = derOctetString(Buffer.alloc(length, 7));
    assert.equal(readDer(written, derTags.octetString).content.length, length);
  }
  // A CRL of some hundred thousand certificates, which nobody here reads.
  assert.equal(hex(derOctetString(Buffer.alloc(0x100_0000)).subarray(0, 6)), "048401000000");
});

test("writes unsigned integers without superfluous zeros", () => {
  for (const number of [0, 1, 127, 128, 255, 256, 65_537, 2 ** 31 - 1])
    assert.equal(smallInteger(readDer(derInteger(number), derTags.integer)), number);
  assert.equal(hex(derInteger(Buffer.from("00ff", "hex"))), "020200ff");
  assert.equal(hex(derInteger(Buffer.alloc(0))), "020100");
});

test("writes names, bit strings, object identifiers and times as certificates do", () => {
  assert.equal(hex(derName()), "3000");
  assert.equal(hex(derName("A")), "300c310a300806035504030c0141");
  assert.equal(hex(derBitString(Buffer.from([1]))), "03020001");
  assert.equal(hex(derOid("2b6570")), "06032b6570");
  assert.equal(derTime(new Date("2027-01-02T03:04:05.678Z")).subarray(2).toString(), "20270102030405Z");
});

test("reads back what it wrote", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), (values) => {
      const written = derSequence(
        ...values.map((value) => derSequence(derOctetString(value), derInteger(value))),
      );
      const read = readDer(written, derTags.sequence);
      requireDerThroughout(read);
      const octets = childrenOf(read).map((child) => childrenOf(child)[0]?.content);
      assert.deepEqual(
        octets,
        values.map((value) => Buffer.from(value)),
      );
    }),
    { numRuns: 200 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bitsOf,
  booleanOf,
  childrenOf,
  DerError,
  derTags,
  readDer,
  requireDerThroughout,
  smallInteger,
  wholeBytesOf,
} from "./der.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const refused = (work: () => unknown, what: string) => assert.throws(work, DerError, what);

test("reads a value with its contents", () => {
  const [number, text] = childrenOf(readDer(hex("3006 02012a 040107"), derTags.sequence));
  assert.ok(number && text);
  assert.equal(smallInteger(number), 42);
  assert.equal(text.tag, derTags.octetString);
  const long = readDer(Buffer.concat([hex("048180"), Buffer.alloc(128)]), derTags.octetString);
  assert.equal(long.content.length, 128);
});

test("rejects every non-DER encoding of a value", () => {
  for (const [what, text] of [
    ["nothing", ""],
    ["a tag alone", "30"],
    ["more after it", "300000"],
    ["less than it says", "300201"],
    ["an indefinite length", "30800000"],
    ["a length that is longer than need be", "30810100"],
    ["a length of two bytes that fits into one", "3082000100"],
    ["a length of five bytes", "30850000000001 00"],
    ["a tag of several bytes", "1f8101 00"],
  ] as const)
    refused(() => readDer(hex(text), derTags.sequence), what);
  refused(() => readDer(hex("0400"), derTags.sequence), "another tag");
  refused(() => childrenOf(readDer(hex("3003 0405 00"), derTags.sequence)), "a child that is too long");
});

test("accepts one encoding of integers, booleans and bit strings", () => {
  const integer = (text: string) => smallInteger(readDer(hex(text), derTags.integer));
  assert.deepEqual([integer("020100"), integer("02020080"), integer("02027fff")], [0, 128, 32_767]);
  for (const text of ["0200", "020180", "02020001", "0205 0100000000"]) refused(() => integer(text), text);
  const truth = (text: string) => booleanOf(readDer(hex(text), derTags.boolean));
  assert.deepEqual([truth("0101ff"), truth("010100")], [true, false]);
  for (const text of ["010101", "0100", "0102ffff"]) refused(() => truth(text), text);
  const bits = (text: string) => [...bitsOf(readDer(hex(text), derTags.bitString))];
  assert.deepEqual([bits("03020780"), bits("03020204"), bits("030100")], [[0], [5], []]);
  for (const text of ["0300", "03020880", "030107"]) refused(() => bits(text), text);
});

test("rejects unused bits in a bit string of whole bytes", () => {
  const whole = (text: string) => wholeBytesOf(readDer(hex(text), derTags.bitString));
  assert.deepEqual(whole("030300abcd"), hex("abcd"));
  for (const text of ["0300", "030201ab", "030107"]) refused(() => whole(text), text);
});

test("requires DER in uninspected values at any depth", () => {
  const check = (text: string) => requireDerThroughout(readDer(hex(text), derTags.sequence));
  check("3009 0101ff 3104 04020102");
  check("3005 a003 020101");
  for (const [what, text] of [
    ["an inner indefinite length", "3004 3080 0000"],
    ["an inner length that is too long", "3004 048101 07"],
    ["an inner value that ends too early", "3004 3002 0405"],
    ["a text in pieces", "3005 2403 040107"],
    ["a set that holds nothing one could read", "3004 1102 0102"],
    ["a number with a zero too many", "3004 0202 0001"],
    ["a number with nothing in it", "3002 0200"],
    ["a negative number with ones too many", "3004 0202 ff80"],
  ] as const)
    refused(() => check(text), what);
  let deep = Buffer.alloc(0);
  for (let depth = 0; depth < 40; depth++) deep = Buffer.concat([Buffer.from([0x30, deep.length]), deep]);
  refused(() => requireDerThroughout(readDer(deep, derTags.sequence)), "forty deep");
});

test("parses or rejects any bytes, and never throws anything else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        const element = readDer(Buffer.from(bytes), bytes[0] ?? 0);
        assert.equal(element.raw.length, bytes.length);
        childrenOf(element);
      } catch (error) {
        assert.ok(error instanceof DerError);
      }
    }),
    { numRuns: 2_000 },
  );
});

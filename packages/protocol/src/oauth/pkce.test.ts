import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isCodeVerifier, isS256Challenge, s256Challenge, verifyS256 } from "./pkce.ts";

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

test("the example of RFC 7636 Appendix B", () => {
  assert.equal(s256Challenge(verifier), challenge);
  assert.equal(verifyS256(verifier, challenge), true);
});

test("rejects another verifier, a plain challenge, and a malformed verifier with the right hash", () => {
  assert.equal(verifyS256(`${verifier.slice(0, -1)}l`, challenge), false);
  assert.equal(verifyS256(verifier, verifier), false);
  assert.equal(verifyS256("short", s256Challenge("short")), false);
  assert.equal(verifyS256("", s256Challenge("")), false);
  assert.equal(verifyS256(verifier, ""), false);
});

test("a verifier has 43 to 128 unreserved characters", () => {
  assert.equal(isCodeVerifier("~.-_".repeat(32)), true);
  for (const bad of [
    "a".repeat(42),
    "a".repeat(129),
    `${verifier}\n`,
    `${verifier}=`,
    `${verifier}+`,
    `${verifier}é`,
  ]) {
    assert.equal(isCodeVerifier(bad), false, JSON.stringify(bad));
  }
});

test("accepts one encoding of each challenge", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64url");
      const spellings = [...alphabet].map((last) => text.slice(0, -1) + last).filter(isS256Challenge);
      const sameBytes = spellings.filter((spelling) => Buffer.from(spelling, "base64url").equals(bytes));
      assert.deepEqual(sameBytes, [text]);
    }),
  );
  for (const bad of [
    `${challenge}=`,
    challenge.slice(1),
    `${challenge.slice(0, -1)}N`,
    challenge.replace("-", "+"),
  ]) {
    assert.equal(isS256Challenge(bad), false, bad);
  }
});

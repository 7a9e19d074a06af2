import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { constantTimeEqual, isUuid, randomSecret, sha256Base64url } from "./hash.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

test("SHA-256 of FIPS 180-2 Appendix B.1, from a string and from bytes", () => {
  const expected = Buffer.from(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "hex",
  ).toString("base64url");
  assert.equal(sha256Base64url("abc"), expected);
  assert.equal(sha256Base64url(Buffer.from("abc")), expected);
});

test("constant-time comparison says the same as ===", () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      assert.equal(constantTimeEqual(a, b), a === b);
      assert.equal(constantTimeEqual(a, `${a}`), true);
    }),
  );
  assert.equal(constantTimeEqual("\uD800", "\uD801"), false);
  assert.equal(constantTimeEqual("é", "e\u0301"), false);
});

test("a secret starts with its prefix, holds the bytes asked for, and never comes twice", () => {
  assert.match(randomSecret("sgn_rt_"), /^sgn_rt_[A-Za-z0-9_-]{43}$/);
  assert.match(randomSecret("", 16), /^[A-Za-z0-9_-]{22}$/);
  assert.equal(new Set(Array.from({ length: 1000 }, () => randomSecret("x"))).size, 1000);
});

test("a UUID is accepted in either case and nothing around it is", () => {
  fc.assert(fc.property(fc.uuid(), (uuid) => isUuid(uuid) && isUuid(uuid.toUpperCase())));
  const uuid = "0198c5d2-7a44-7c11-9b1e-3f5a6b7c8d9e";
  for (const bad of [
    "",
    `${uuid}\n`,
    ` ${uuid}`,
    `{${uuid}}`,
    uuid.replaceAll("-", ""),
    uuid.replace("e", "g"),
    `${uuid}0`,
  ]) {
    assert.equal(isUuid(bad), false, JSON.stringify(bad));
  }
});

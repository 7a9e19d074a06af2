import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatScope, isSubset, parseScope } from "./scope.ts";

test("keeps the order of scopes and removes duplicates", () => {
  assert.deepEqual(parseScope("openid"), ["openid"]);
  assert.deepEqual(parseScope("profile openid profile api:read"), ["profile", "openid", "api:read"]);
  assert.deepEqual(parseScope("Openid openid"), ["Openid", "openid"]);
});

test("spaces too many make no scope and no error", () => {
  for (const spaced of [" a b", "a b ", "a  b", "   a     b   "])
    assert.deepEqual(parseScope(spaced), ["a", "b"], JSON.stringify(spaced));
});

test("rejects anything but scope tokens separated by spaces (RFC 6749 §3.3)", () => {
  for (const bad of [
    "",
    " ",
    "   ",
    "a\tb",
    "a\u00a0b",
    "a \n b",
    "a\nb",
    'a"b',
    "a\\b",
    "é",
    "a\0",
    "a\u007f",
    "a\n",
  ]) {
    assert.equal(parseScope(bad), undefined, JSON.stringify(bad));
  }
});

test("accepts a hundred scopes and rejects one more", () => {
  const tokens = Array.from({ length: 101 }, (_, index) => `s${index}`);
  assert.equal(parseScope(tokens.slice(1).join(" "))?.length, 100);
  assert.equal(parseScope(tokens.join(" ")), undefined);
  assert.equal(parseScope(Array(101).fill("a").join(" ")), undefined);
});

test("parses what it formatted", () => {
  const token = fc.stringMatching(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
  fc.assert(
    fc.property(fc.uniqueArray(token, { minLength: 1, maxLength: 100 }), (scopes) => {
      assert.deepEqual(parseScope(formatScope(scopes)), scopes);
    }),
  );
});

test("recognises subsets only", () => {
  assert.equal(isSubset([], []), true);
  assert.equal(isSubset(["a"], ["b", "a"]), true);
  assert.equal(isSubset(["a", "c"], ["a", "b"]), false);
  assert.equal(isSubset(["a"], ["ab"]), false);
  assert.equal(isSubset(["a"], []), false);
});

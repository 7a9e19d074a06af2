import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeFormComponent, parseForm, requireSingle } from "./form.ts";
import { OAuthError } from "./oauth/oauth-error.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

const isInvalidRequest = (error: unknown) => error instanceof OAuthError && error.code === "invalid_request";

test("parameters are decoded: plus is a space, escapes are UTF-8, only the first equals sign separates", () => {
  const { values } = parseForm(
    "scope=openid+profile&redirect_uri=https%3A%2F%2Fa.example%2Fcb%3Fx%3D1&name=J%C3%BCrgen&n%61me2=a=b%2B",
  );
  assert.deepEqual(Object.fromEntries(values), {
    scope: "openid profile",
    redirect_uri: "https://a.example/cb?x=1",
    name: "Jürgen",
    name2: "a=b+",
  });
});

test("a plus is a space also where nothing else is escaped", () => {
  assert.equal(parseForm("scope=openid+profile").values.get("scope"), "openid profile");
});

test("a body without escapes is read the same way as one with them", () => {
  const plain = parseForm("grant_type=client_credentials&scope=api");
  const escaped = parseForm("grant%5Ftype=client%5Fcredentials&scope=%61pi");
  assert.deepEqual([...plain.values], [...escaped.values]);
});

test("RFC 6749 §3.1: a parameter without a value counts as omitted, also when it stands beside one with a value", () => {
  for (const body of ["", "&&", "a", "a=", "a=&a", "a&&a="]) {
    assert.equal(parseForm(body).values.size, 0, body);
    assert.equal(parseForm(body).repeated.size, 0, body);
  }
  const form = parseForm("a=&a=1");
  assert.equal(form.values.get("a"), "1");
  assert.equal(form.repeated.size, 0);
});

test("an equals sign of the next parameter does not belong to this one", () => {
  assert.deepEqual([...parseForm("a&b=1").values], [["b", "1"]]);
});

test("malformed escapes and invalid UTF-8 are refused, in names, in values and in what is omitted", () => {
  const bad = [
    "a=%",
    "a=%4",
    "a=%zz",
    "a=%C3",
    "a=%C3%28",
    "a=%ff",
    "a=%C0%80",
    "a=%ED%A0%80",
    "%zz=1",
    "%zz",
    "a=\uFFFD",
    "a=\uD800",
  ];
  for (const body of bad) assert.throws(() => parseForm(body), isInvalidRequest, body);
});

test("a NUL is refused however it is written, and an escaped percent sign before two zeros is no NUL", () => {
  for (const body of ["a=%00", "a=x%00y", "%00=1", "a=\0"])
    assert.throws(() => parseForm(body), isInvalidRequest, body);
  assert.equal(parseForm("a=%2500").values.get("a"), "%00");
});

test("more than 100 parameters are refused, or more than the limit given, empty ones counted too", () => {
  const of = (count: number, parameter = "a=1") => Array(count).fill(parameter).join("&");
  assert.equal(parseForm(of(100)).allValues.get("a")?.length, 100);
  assert.throws(() => parseForm(of(101)), isInvalidRequest);
  assert.throws(() => parseForm(of(101, "a")), isInvalidRequest);
  assert.throws(() => parseForm(of(3), { maxParameters: 2 }), isInvalidRequest);
});

test("a repeated parameter keeps its first value, is named, and shows all its values in order", () => {
  const form = parseForm("resource=a&code=1&resource=b&resource=c");
  assert.equal(form.values.get("resource"), "a");
  assert.deepEqual([...form.repeated], ["resource"]);
  assert.deepEqual(form.allValues.get("resource"), ["a", "b", "c"]);
  assert.equal(form.allValues.has("code"), false);
});

test("a repeated parameter is refused, but resource may repeat, and a list of names narrows the check", () => {
  requireSingle(parseForm("a=1&b=2"));
  requireSingle(parseForm("resource=a&resource=b"));
  requireSingle(parseForm("a=1&a=1"), ["b"]);
  assert.throws(() => requireSingle(parseForm("a=1&a=1")), isInvalidRequest);
  assert.throws(() => requireSingle(parseForm("a=1&%61=2")), isInvalidRequest);
  assert.throws(() => requireSingle(parseForm("resource=a&resource=b"), ["resource"]), isInvalidRequest);
  assert.throws(() => requireSingle(parseForm("__proto__=1&__proto__=2")), isInvalidRequest);
});

test("what URLSearchParams writes is read back", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 }).filter((value) => !value.includes("\0"));
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 20 }),
      (entries) => {
        assert.deepEqual([...parseForm(new URLSearchParams(entries).toString()).values], entries);
      },
    ),
  );
});

test("any text at all is either read or refused as invalid_request", () => {
  const piece = fc.oneof(fc.constantFrom("&", "=", "%", "+", "%C3%A9", "%00", "a", "resource"), anyText);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        parseForm(pieces.join(""));
      } catch (error) {
        assert.ok(isInvalidRequest(error));
      }
    }),
  );
});

test("one component is decoded, or is undefined when malformed", () => {
  assert.equal(decodeFormComponent("a+b%2B"), "a b+");
  assert.equal(decodeFormComponent("%"), undefined);
});

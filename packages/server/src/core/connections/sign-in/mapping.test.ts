import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate, expressionFault, isLacking, mapClaims } from "./mapping.ts";

const claims = {
  email: " Ada@Acme.example ",
  "a/b": "slash",
  "http://claims.example/name": "by URL",
  address: { country: "DK", "m~n": ["first", "second"] },
  empty: "",
  none: null,
  list: [],
};

test("an expression is a claim's name, a JSON Pointer, a constant, or the first of several", () => {
  assert.equal(evaluate("http://claims.example/name", claims), "by URL");
  assert.equal(evaluate("/address/country", claims), "DK");
  assert.equal(evaluate("/a~1b", claims), "slash");
  assert.equal(evaluate("/address/m~0n/1", claims), "second");
  assert.equal(evaluate("=DK", claims), "DK");
  assert.equal(evaluate(["empty", "none", "list", "/address/zip", "=last"], claims), "last");
  assert.equal(evaluate("missing", claims), undefined);
  assert.equal(evaluate("/address/country/length", claims), undefined);
});

test("what every object has is no claim", () => {
  for (const name of ["constructor", "__proto__", "/constructor/name", "/address/toString", "/list/length"])
    assert.equal(typeof evaluate(name, { address: {} }), "undefined", name);
});

test("a member is text, trimmed and of a bounded length; a verified address is claimed by a true value alone", () => {
  const user = mapClaims(
    { email: "email", emailVerified: "v", firstname: "f", surname: "s", "attributes.team": "t" },
    { email: claims.email, v: "true", f: ["Ada"], s: { of: "objects" }, t: ["a", "b"] },
  );
  assert.deepEqual(
    [user.email, user.emailVerified, user.firstname, user.surname, user.attributes],
    ["Ada@Acme.example", true, "Ada", "", { team: ["a", "b"] }],
  );
  for (const v of ["false", "yes", 0, {}, ["true"], null])
    assert.equal(mapClaims({ emailVerified: "v" }, { v }).emailVerified, false, String(v));
  assert.equal(mapClaims({ email: "e" }, { e: "x".repeat(1_001) }).email, undefined);
});

test("an expression lacks what it reads where no claim of it has a value; a constant is no claim", () => {
  for (const lacking of ["missing", "empty", "none", "/address/zip", ["missing", "=last"], ["=", "missing"]])
    assert.equal(isLacking(lacking, claims), true, String(lacking));
  for (const read of ["email", "list", "=", "=last", ["missing", "email"], ["=first", "missing"]])
    assert.equal(isLacking(read, claims), false, String(read));
});

test("a member is of what is signed where that has it, and of everything else before a constant", () => {
  const mapping = { email: ["mail", "email"], phone: ["phone", "=none"], locale: ["zone", "=en"] };
  const user = mapClaims(mapping, { mail: "told", email: "signed", phone: "told" }, { email: "signed" });
  assert.deepEqual([user.email, user.phone, user.locale], ["signed", "told", "en"]);
});

test("an expression that is none is refused", () => {
  for (const wrong of ["", [], "/a~2", "a\u0000", "x".repeat(201), 3, null, [["a"]], Array(11).fill("a")])
    assert.notEqual(expressionFault(wrong), undefined, JSON.stringify(wrong));
  for (const right of ["email", "/a/b", "=", ["a", "=b"]]) assert.equal(expressionFault(right), undefined);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { buildRedirect } from "./authorization-response.ts";

test("appends the response as query or fragment, in the given order", () => {
  const params = [
    ["code", "a b"],
    ["state", "x&y=z#é+"],
  ] as const;
  assert.equal(
    buildRedirect("https://a.example/cb", "query", params),
    "https://a.example/cb?code=a%20b&state=x%26y%3Dz%23%C3%A9%2B",
  );
  assert.equal(
    buildRedirect("https://a.example/cb", "fragment", params),
    "https://a.example/cb#code=a%20b&state=x%26y%3Dz%23%C3%A9%2B",
  );
  assert.equal(buildRedirect("com.example.app:/cb", "query", [["code", "1"]]), "com.example.app:/cb?code=1");
});

test("keeps the redirect URI's query byte for byte (RFC 6749 §3.1.2)", () => {
  const append = (uri: string) => buildRedirect(uri, "query", [["code", "1"]]);
  assert.equal(append("https://a.example/cb?x=%7e+1&&y"), "https://a.example/cb?x=%7e+1&&y&code=1");
  assert.equal(append("https://a.example/cb?"), "https://a.example/cb?code=1");
  assert.equal(append("https://a.example/cb?x=1&"), "https://a.example/cb?x=1&code=1");
  assert.equal(
    buildRedirect("https://a.example/cb?x=1", "fragment", [["code", "1"]]),
    "https://a.example/cb?x=1#code=1",
  );
});

test("values decode intact with URLSearchParams and with percent decoding", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom("query", "fragment"), (state, mode) => {
      const address = buildRedirect("https://a.example/cb", mode, [["state", state]]);
      const answer = address.slice("https://a.example/cb?".length);
      assert.equal(new URLSearchParams(answer).get("state"), state);
      assert.equal(decodeURIComponent(answer.slice("state=".length)), state);
      assert.match(answer, /^[\x21-\x7e]*$/);
    }),
  );
});

test("accepts a lone surrogate without throwing", () => {
  assert.equal(
    buildRedirect("https://a.example/cb", "query", [["state", "\uD800"]]),
    "https://a.example/cb?state=%EF%BF%BD",
  );
});

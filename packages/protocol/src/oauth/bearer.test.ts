import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bearerChallenge, parseBearer } from "./authorization-header.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

test("reads the token of RFC 6750 §2.1, with the scheme in any case", () => {
  assert.equal(parseBearer("Bearer mF_9.B5f-4.1JqM"), "mF_9.B5f-4.1JqM");
  assert.equal(parseBearer("bEARER  a.b~c+d/e=="), "a.b~c+d/e==");
});

test("rejects anything but one b64token", () => {
  const bad = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer =",
    "Basic YTpi",
    "Bearertoken",
    "Bearer a b",
    "Bearer a,b",
    "Bearer a=b",
    "Bearer é",
    "Bearer a\n",
    " Bearer a",
    'Bearer "a"',
  ];
  for (const header of bad) assert.equal(parseBearer(header), undefined, JSON.stringify(header));
});

test("a challenge without credentials has the realm and no error (RFC 6750 §3.1)", () => {
  assert.equal(bearerChallenge("https://id.example/oauth/1"), 'Bearer realm="https://id.example/oauth/1"');
});

test("the challenge names error, description and missing scope", () => {
  assert.equal(
    bearerChallenge("r", "insufficient_scope", "more is needed", "openid profile"),
    'Bearer realm="r", error="insufficient_scope", error_description="more is needed", scope="openid profile"',
  );
  assert.equal(bearerChallenge("r", "invalid_token"), 'Bearer realm="r", error="invalid_token"');
});

test("no text escapes its quotes or the header", () => {
  fc.assert(
    fc.property(anyText, anyText, (realm, text) => {
      const challenge = bearerChallenge(realm, "invalid_token", text, text);
      assert.match(
        challenge,
        /^Bearer realm="[^"\\]*", error="invalid_token", error_description="[^"\\]*", scope="[^"\\]*"$/,
      );
      assert.match(challenge, /^[\x20-\x7e]*$/);
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseRequestedClaims } from "./requested-claims.ts";

test("parses the example of OpenID Connect Core §5.5", () => {
  const claims = parseRequestedClaims(
    JSON.stringify({
      userinfo: {
        given_name: { essential: true },
        nickname: null,
        email: { essential: true },
        "http://example.info/claims/groups": null,
      },
      id_token: {
        auth_time: { essential: true },
        acr: { values: ["urn:mace:incommon:iap:silver"] },
      },
    }),
  );
  assert.deepEqual(claims, {
    userinfo: {
      given_name: { essential: true, values: undefined },
      nickname: { essential: false, values: undefined },
      email: { essential: true, values: undefined },
      "http://example.info/claims/groups": { essential: false, values: undefined },
    },
    idToken: {
      auth_time: { essential: true, values: undefined },
      acr: { essential: false, values: ["urn:mace:incommon:iap:silver"] },
    },
  });
});

test("rejects deeply nested JSON", () => {
  const deep = "[".repeat(2_000) + "]".repeat(2_000);
  assert.throws(
    () => parseRequestedClaims(`{"id_token":{"sub":{"value":${deep}}}}`),
    /nested more than 32 deep/,
  );
});

test("a single value becomes a list of one", () => {
  const { idToken } = parseRequestedClaims('{"id_token":{"sub":{"value":"248289761001"}}}');
  assert.deepEqual(idToken, { sub: { essential: false, values: ["248289761001"] } });
});

test("an absent parameter requests nothing, and unknown members are ignored at every level", () => {
  const nothing = { userinfo: {}, idToken: {} };
  assert.deepEqual(parseRequestedClaims(undefined), nothing);
  assert.deepEqual(parseRequestedClaims("{}"), nothing);
  assert.deepEqual(parseRequestedClaims('{"other":7,"userinfo":{"name":{"purpose":"x"}}}'), {
    userinfo: { name: { essential: false, values: undefined } },
    idToken: {},
  });
});

test("a claim named like an Object member is an ordinary claim", () => {
  const { userinfo } = parseRequestedClaims('{"userinfo":{"__proto__":{"essential":true},"toString":null}}');
  assert.deepEqual(Object.keys(userinfo), ["__proto__", "toString"]);
  assert.equal(Object.getPrototypeOf(userinfo), Object.prototype);
});

const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`claim${index}`, null]));
const malformed = [
  '{"id_token":{"sub":{"value":"\\ud800"}}}',
  '{"id_token":{"n":{"value":1e999}}}',
  "",
  "{",
  "null",
  "[]",
  '"name"',
  '{"userinfo":[]}',
  '{"userinfo":null}',
  '{"id_token":"acr"}',
  '{"id_token":{"acr":true}}',
  '{"id_token":{"acr":[]}}',
  '{"id_token":{"acr":{"essential":"true"}}}',
  '{"id_token":{"acr":{"values":"phr"}}}',
  JSON.stringify({ userinfo: many }),
];
for (const text of malformed) {
  test(`malformed claims are invalid_request: ${text.slice(0, 60)}`, () => {
    assert.throws(
      () => parseRequestedClaims(text),
      (error) => error instanceof OAuthError && error.code === "invalid_request",
    );
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OAuthError, type OAuthErrorCode, oauthErrorBody, printableDescription } from "./oauth-error.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

test("each error code has the status of its RFC, else 400", () => {
  const statuses: [OAuthErrorCode, number][] = [
    ["invalid_request", 400],
    ["invalid_grant", 400],
    ["authorization_pending", 400],
    ["unsupported_token_type", 400],
    ["invalid_target", 400],
    ["invalid_client", 401],
    ["invalid_token", 401],
    ["insufficient_user_authentication", 401],
    ["insufficient_scope", 403],
    ["server_error", 500],
    ["temporarily_unavailable", 503],
  ];
  for (const [code, status] of statuses) assert.equal(new OAuthError(code, "x").status, status, code);
  assert.equal(new OAuthError("invalid_client", "x", { status: 400 }).status, 400);
});

test("the body has the code and the description, never the cause", () => {
  const cause = new Error("password of the database");
  const error = new OAuthError("server_error", "try again later", { cause });
  assert.equal(error.cause, cause);
  assert.ok(error instanceof Error);
  assert.equal(
    JSON.stringify(oauthErrorBody(error)),
    '{"error":"server_error","error_description":"try again later"}',
  );
  assert.equal("cause" in new OAuthError("invalid_request", "x"), false);
});

test("replaces characters that RFC 6749 §5.2 forbids in a description", () => {
  assert.equal(new OAuthError("invalid_scope", 'scope "a\\b" é\r\n😀').description, "scope 'a/b' ????");
  fc.assert(
    fc.property(anyText, (text) => {
      assert.match(
        oauthErrorBody(new OAuthError("invalid_request", text)).error_description,
        /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/,
      );
    }),
  );
});

test("keeps a valid description unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
      const allowed = text.replace(/["\\]/g, "");
      assert.equal(printableDescription(allowed), allowed);
    }),
  );
});

test("sets headers only when needed, and rounds Retry-After up to whole seconds", () => {
  assert.equal(new OAuthError("invalid_request", "x").headers, undefined);
  assert.deepEqual(new OAuthError("temporarily_unavailable", "x", { retryAfterSeconds: 1.2 }).headers, {
    "retry-after": "2",
  });
  assert.deepEqual(new OAuthError("invalid_token", "x", { wwwAuthenticate: 'Bearer realm="r"' }).headers, {
    "www-authenticate": 'Bearer realm="r"',
  });
});

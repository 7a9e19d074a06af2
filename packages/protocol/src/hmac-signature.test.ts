import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSystemAccountHeader } from "./hmac-headers.ts";
import { hmacSignature, isHmacSignature } from "./hmac-signature.ts";

const body = Buffer.from('{"email":"user@example.com"}');
const strict = { method: "POST", target: "/a?b=c", timestamp: "1700000000", nonce: "n-1" };

test("the signature is Base64 of HMAC-SHA256 over the body (a value of openssl's)", () => {
  // printf '%s' '{"email":"user@example.com"}' | openssl dgst -sha256 -hmac sgn_sa_secret -binary | base64
  assert.equal(hmacSignature("sgn_sa_secret", body), "GaPfDZotT0lbzVOIlqEnyFtroBkYlBmL5AyDlU95UCw=");
  assert.equal(
    hmacSignature("sgn_sa_secret", Buffer.alloc(0)),
    "jiWVj9SuT7Xi5rHb7lVIom0TgAMy6trtP3RUOOIVOZ0=",
  );
});

test("the strict form covers method, target, time and nonce", () => {
  const made = hmacSignature("s", body, strict);
  assert.ok(isHmacSignature(made, "s", body, strict));
  for (const changed of [
    { ...strict, method: "PUT" },
    { ...strict, target: "/a" },
    { ...strict, timestamp: "1700000001" },
    { ...strict, nonce: "n-2" },
    undefined,
  ])
    assert.ok(!isHmacSignature(made, "s", body, changed));
});

test("another secret, another body, another spelling: none fits", () => {
  const made = hmacSignature("s", body);
  assert.ok(isHmacSignature(made, "s", body));
  assert.ok(!isHmacSignature(made, "t", body));
  assert.ok(!isHmacSignature(made, "s", Buffer.from("{}")));
  assert.ok(!isHmacSignature(made.slice(0, -1), "s", body), "no padding");
  assert.ok(!isHmacSignature(made.replace(/=$/, "A"), "s", body));
  assert.ok(!isHmacSignature(`${made.slice(0, 42)}${nextOf(made[42] ?? "A")}=`, "s", body), "stray bits");
  assert.ok(!isHmacSignature("", "s", body));
});

/** Base64 of 32 bytes leaves two bits of the last character unused. */
function nextOf(character: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return alphabet[alphabet.indexOf(character) + 1] ?? "";
}

test("a header is a UUID, a colon and a signature, and nothing else", () => {
  const key = "01a1fd3c-484e-48bb-9893-e02106c1d59d";
  const signature = hmacSignature("s", body);
  assert.deepEqual(parseSystemAccountHeader(`${key.toUpperCase()}:${signature}`), {
    publicKey: key,
    signature,
  });
  for (const header of [
    undefined,
    "",
    key,
    `${key}:`,
    `Bearer ${key}:${signature}`,
    `${key}:${signature} `,
    `${key} :${signature}`,
    `${key}:${signature}:x`,
    `x:${signature}`,
    `${key}:${signature.replaceAll("=", "")}`,
  ])
    assert.equal(parseSystemAccountHeader(header), undefined, header ?? "none");
});

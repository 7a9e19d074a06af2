// The SDK's signature is the service's: both are computed here, by different code.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSystemAccountHeader } from "@signet/protocol/hmac-headers";
import {
  isHmacSignature as isServerSignature,
  hmacSignature as serverSignature,
} from "@signet/protocol/hmac-signature";
import { requestTarget, signHmac, verifyHmac } from "./hmac.ts";

const secret = "sgn_sa_Zm9vYmFy";
const bytes = (text: string) => new TextEncoder().encode(text);
const strict = { method: "POST", target: "/orders?x=1", timestamp: "1790000000", nonce: "n-1" };

test("both forms equal the service's signatures, and verify them", async () => {
  const bodies = [
    new Uint8Array(),
    bytes('{"email":"a@b.example"}'),
    bytes("æøå\u0000\r\n"),
    new Uint8Array(70_000).fill(255),
  ];
  for (const body of bodies)
    for (const part of [undefined, strict, { ...strict, target: "/å?%20" }]) {
      const ours = await signHmac(secret, body, part);
      assert.equal(ours, serverSignature(secret, body, part));
      assert.equal(isServerSignature(ours, secret, body, part), true);
      assert.equal(await verifyHmac(serverSignature(secret, body, part), secret, body, part), true);
    }
});

test("the documented example's signature never changes", async () => {
  const signature = "f8+OvNnFwlR/ZSoGPSGqxKsw9iRFGFWLHNhIXTVqL3E=";
  assert.equal(
    await signHmac("key", bytes("The quick brown fox jumps over the lazy dog")),
    "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=",
  );
  assert.equal(await verifyHmac(signature, secret, bytes("")), false);
});

test("any change, or another encoding of the same bytes, is rejected", async () => {
  const body = bytes("{}");
  const signature = await signHmac(secret, body, strict);
  const changed = [
    verifyHmac(signature, `${secret}x`, body, strict),
    verifyHmac(signature, secret, bytes("{} "), strict),
    verifyHmac(signature, secret, body),
    verifyHmac(signature, secret, body, { ...strict, method: "PUT" }),
    verifyHmac(signature, secret, body, { ...strict, target: "/orders?x=2" }),
    verifyHmac(signature, secret, body, { ...strict, timestamp: "1790000001" }),
    verifyHmac(signature, secret, body, { ...strict, nonce: "n-2" }),
    verifyHmac(signature.slice(0, -1), secret, body, strict),
    verifyHmac(`${signature}=`, secret, body, strict),
    verifyHmac("", secret, body, strict),
  ];
  assert.deepEqual(
    await Promise.all(changed),
    changed.map(() => false),
  );
  // The last character of 32 bytes in Base64 has two bits that say nothing: only zeroes are the right spelling.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const last = alphabet.indexOf(signature.charAt(42));
  const twin = `${signature.slice(0, 42)}${alphabet.charAt(last ^ 1)}=`;
  assert.deepEqual(Buffer.from(twin, "base64"), Buffer.from(signature, "base64"));
  assert.equal(await verifyHmac(twin, secret, body, strict), false);
});

test("an Authorization header in any other format names no account", () => {
  const signature = "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=";
  const key = "0198C7A3-1111-7222-8333-444455556666";
  assert.deepEqual(parseSystemAccountHeader(`${key}:${signature}`), {
    publicKey: key.toLowerCase(),
    signature,
  });
  const others = [
    null,
    "",
    `Bearer ${key}`,
    `${key}:`,
    `${key}:x`,
    `${key}: ${signature}`,
    `${key}:${signature} `,
    `x${key}:${signature}`,
  ];
  assert.deepEqual(
    others.map(parseSystemAccountHeader),
    others.map(() => undefined),
  );
});

test("the request target is what fetch sends", () => {
  assert.equal(requestTarget("https://a.example/x/../y?q=%20#part"), "/y?q=%20");
  assert.equal(requestTarget("https://a.example"), "/");
  assert.equal(requestTarget("https://a.example/x?"), "/x?");
  assert.equal(requestTarget("https://user:word@a.example:8443/x?a=b"), "/x?a=b");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseBasicCredentials } from "./authorization-header.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

const basic = (pair: string | Uint8Array) => `Basic ${Buffer.from(pair).toString("base64")}`;

test("the example of RFC 6749 §2.3.1", () => {
  assert.deepEqual(parseBasicCredentials("Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3"), {
    clientId: "s6BhdRkqt3",
    clientSecret: "7Fjfp0ZBr1KtDRbnfVdmIw",
  });
});

test("decodes form-urlencoded ID and secret with colon, plus and space", () => {
  assert.deepEqual(parseBasicCredentials(basic("a%3Ab+c:%2B%25:d")), {
    clientId: "a:b c",
    clientSecret: "+%:d",
  });
  const text = fc.stringMatching(/^[\x20-\x7e]+$/);
  const encode = (value: string) => new URLSearchParams({ x: value }).toString().slice(2);
  fc.assert(
    fc.property(text, text, (clientId, clientSecret) => {
      const header = basic(`${encode(clientId)}:${encode(clientSecret)}`);
      assert.deepEqual(parseBasicCredentials(header), { clientId, clientSecret });
    }),
  );
});

test("matches the scheme case-insensitively, and accepts an empty secret", () => {
  assert.deepEqual(parseBasicCredentials(basic("a:b").replace("Basic ", "bAsIC  ")), {
    clientId: "a",
    clientSecret: "b",
  });
  assert.deepEqual(parseBasicCredentials(basic("a:")), { clientId: "a", clientSecret: "" });
});

test("rejects another scheme, invalid base64, UTF-8 and escapes, and control characters", () => {
  const bad = [
    "",
    "Basic",
    "Basic ",
    "Bearer YTpi",
    "BasicYTpi",
    "Basic YTpi YTpi",
    "Basic YTpi, Basic YTpi",
    "Basic YTpi\n",
    "Basic YTpi=", // "a:b" with padding that does not belong
    "Basic YTo", // padding left out
    "Basic YTp=", // bits behind the last byte
    "Basic YT-_", // base64url
    basic("no colon"),
    basic(":secret"),
    basic("a:%"),
    basic("a:%zz"),
    basic("a%ff:b"),
    basic("a:%00"),
    basic("a:b\0"),
    basic("a:b\n"),
    basic("a:%C3%A9"),
    basic("é:b"),
    basic(new Uint8Array([0x61, 0x3a, 0xff])),
  ];
  for (const header of bad) assert.equal(parseBasicCredentials(header), undefined, JSON.stringify(header));
});

test("never throws, whatever the header", () => {
  fc.assert(
    fc.property(anyText, fc.uint8Array(), (text, bytes) => {
      assert.doesNotThrow(() =>
        [text, `Basic ${text}`, basic(text), basic(bytes)].map(parseBasicCredentials),
      );
    }),
  );
});

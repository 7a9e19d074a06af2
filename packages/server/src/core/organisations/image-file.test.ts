import assert from "node:assert/strict";
import { test } from "node:test";
import { readImageHeader } from "./image-file.ts";

const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const png = bytes("89504e470d0a1a0a 0000000d 49484452 00000040 00000020 0806000000 00000000");
const jpeg = bytes("ffd8 ffe0 0004 0000 ffff ffc0 0011 08 0020 0040 03 012200 021101 031101");
const lossy = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8 "), bytes("00000000 000000 9d012a 4000 2000")]);
const lossless = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8L"), bytes("00000000 2f 3fc00700 00")]);
const extended = Buffer.concat([
  Buffer.from("RIFF\0\0\0\0WEBPVP8X"),
  bytes("0a000000 00000000 3f0000 1f0000"),
]);
const icon = Buffer.concat([bytes("0000 0100 0100 2010 00000100 2000 04000000 16000000"), Buffer.alloc(4)]);

test("reads type and size from the bytes of each format", () => {
  assert.deepEqual(readImageHeader(png), { type: "image/png", width: 64, height: 32 });
  assert.deepEqual(readImageHeader(jpeg), { type: "image/jpeg", width: 64, height: 32 });
  for (const file of [lossy, lossless, extended])
    assert.deepEqual(readImageHeader(file), { type: "image/webp", width: 64, height: 32 });
  assert.deepEqual(readImageHeader(icon), { type: "image/x-icon", width: 32, height: 32 });
});

test("anything else is none, and so is a header that is cut off", () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const html = Buffer.from("<!doctype html><script>alert(1)</script>");
  for (const file of [svg, html, Buffer.from("GIF89a"), Buffer.alloc(0), Buffer.alloc(64)])
    assert.equal(readImageHeader(file), undefined);
  for (const file of [png, jpeg, lossy, lossless, extended, icon])
    for (let length = 0; length < 18; length += 1)
      assert.equal(readImageHeader(file.subarray(0, length)), undefined, String(length));
  assert.equal(readImageHeader(Buffer.concat([png.subarray(0, 8), svg])), undefined);
  assert.equal(readImageHeader(icon.subarray(0, icon.length - 1)), undefined, "an image beyond the end");
});

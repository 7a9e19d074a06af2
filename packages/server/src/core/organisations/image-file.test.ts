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
const bitmap = bytes("28000000 20000000 40000000 0100 2000");
/** Of images whose directory says that each has 32 by 32. */
function iconOf(...images: Buffer[]): Buffer {
  const entries = images.map((image, index) => {
    const entry = Buffer.concat([bytes("2020 0000 0100 2000"), Buffer.alloc(8)]);
    entry.writeUInt32LE(image.length, 8);
    const before = images.slice(0, index).reduce((sum, { length }) => sum + length, 0);
    entry.writeUInt32LE(6 + 16 * images.length + before, 12);
    return entry;
  });
  const head = bytes("0000 0100 0000");
  head.writeUInt16LE(images.length, 4);
  return Buffer.concat([head, ...entries, ...images]);
}
const icon = iconOf(bitmap);

test("reads type and size from the bytes of each format", () => {
  assert.deepEqual(readImageHeader(png), { type: "image/png", width: 64, height: 32 });
  assert.deepEqual(readImageHeader(jpeg), { type: "image/jpeg", width: 64, height: 32 });
  for (const file of [lossy, lossless, extended])
    assert.deepEqual(readImageHeader(file), { type: "image/webp", width: 64, height: 32 });
  assert.deepEqual(readImageHeader(icon), { type: "image/x-icon", width: 32, height: 32 });
});

test("an icon is as large as its images say, not as its directory says", () => {
  const sideOf = (...images: Buffer[]) => readImageHeader(iconOf(...images))?.width;
  assert.equal(sideOf(bitmap, png), 64);
  const [bomb, wide, tall] = [Buffer.from(png), Buffer.from(bitmap), Buffer.from(bitmap)];
  bomb.writeUInt32BE(30_000, 16);
  wide.writeInt32LE(-30_000, 4);
  tall.writeInt32LE(-60_000, 8);
  for (const image of [bomb, wide, tall]) assert.equal(sideOf(bitmap, image), 30_000);
  for (const image of [jpeg, Buffer.from("<svg/>"), Buffer.alloc(64), Buffer.alloc(0)])
    assert.equal(sideOf(bitmap, image), undefined);
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

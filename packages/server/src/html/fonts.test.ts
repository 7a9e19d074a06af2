/** The console's font has every letter that its package's has, and weighs what a console page can afford. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { interFont } from "./fonts.ts";

const package_ = import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");
const MOST_BYTES = 36_000;
const CMAP = 0;
const [GLYF, LOCA] = [10, 11];

/** WOFF 2.0 §4.1: variable-length integers. */
function base128(file: Buffer, at: number): [value: number, next: number] {
  let value = 0;
  for (let place = at; ; place += 1) {
    const byte = file[place] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return [value, place + 1];
  }
}

/** The table `cmap` (WOFF 2.0 §4 and §5): it is one of those that are not transformed. */
function cmapOf(file: Buffer): Buffer {
  assert.equal(file.toString("latin1", 0, 4), "wOF2");
  let at = 48;
  let offset = 0;
  let found = { offset: 0, length: 0 };
  for (let tables = file.readUInt16BE(12); tables > 0; tables -= 1) {
    const flags = file[at] ?? 0;
    const tag = flags & 0x3f;
    at += tag === 0x3f ? 5 : 1;
    let length: number;
    [length, at] = base128(file, at);
    const isTransformed = (tag === GLYF || tag === LOCA) === (flags >> 6 === 0);
    if (isTransformed) [length, at] = base128(file, at);
    if (tag === CMAP) found = { offset, length };
    offset += length;
  }
  return brotliDecompressSync(file.subarray(at, at + file.readUInt32BE(20))).subarray(
    found.offset,
    found.offset + found.length,
  );
}

/** Segments of format 4 (OpenType, `cmap`). */
function lettersOf(file: Buffer): number[] {
  const cmap = cmapOf(file);
  const letters: number[] = [];
  for (let table = 0; table < cmap.readUInt16BE(2); table += 1) {
    const start = cmap.readUInt32BE(4 + 8 * table + 4);
    if (cmap.readUInt16BE(start) !== 4) continue;
    const double = cmap.readUInt16BE(start + 6);
    for (let segment = 0; segment < double; segment += 2) {
      const end = cmap.readUInt16BE(start + 14 + segment);
      const first = cmap.readUInt16BE(start + 16 + double + segment);
      for (let letter = first; letter <= end && letter !== 0xffff; letter += 1) letters.push(letter);
    }
    return letters;
  }
  return letters;
}

test("the console's font has every letter of its package, at weights that pages use, in 36 KB", () => {
  const all = lettersOf(readFileSync(new URL(package_)));
  assert.ok(all.length > 200 && all.includes("ß".codePointAt(0) ?? 0));
  assert.deepEqual(lettersOf(interFont.bytes), all);
  assert.ok(interFont.bytes.length < MOST_BYTES, `${interFont.bytes.length} bytes`);
});

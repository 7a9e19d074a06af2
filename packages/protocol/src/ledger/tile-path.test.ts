import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTilePath, parseTilePath } from "./tile-path.ts";

test("the paths of tlog-tiles", () => {
  assert.equal(formatTilePath({ level: 0, index: 1_234_067, width: 256 }), "tile/0/x001/x234/067");
  assert.equal(formatTilePath({ level: 0, index: 273, width: 112 }), "tile/0/273.p/112");
  assert.equal(formatTilePath({ level: "entries", index: 0, width: 1 }), "tile/entries/000.p/1");
  for (const tile of [
    { level: 5, index: 0, width: 256 },
    { level: 63, index: 999_999, width: 255 },
    { level: "entries", index: 1_000, width: 256 } as const,
  ])
    assert.deepEqual(parseTilePath(formatTilePath(tile).slice("tile/".length)), tile);
});

test("every tile has one address", () => {
  for (const path of [
    ...["", "0", "0/", "00/000", "64/000", "-1/000", "0/0", "0/1000", "0/x000/000", "0/x001/1", "0/001/000"],
    ...[
      "0/000.p/0",
      "0/000.p/256",
      "0/000.p/300",
      "0/000.p/01",
      "0/000.p/",
      "0/000/",
      "Entries/000",
      "0/000 ",
    ],
    ...[`0/${"x999/".repeat(6)}999`, `0/${"x001/".repeat(40)}000`],
  ])
    assert.equal(parseTilePath(path), undefined, path);
});

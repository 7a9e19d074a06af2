import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

const sources = path.join(import.meta.dirname, "..", "..");

// Its grid has places for the icon, the text and the action: what is written by hand stands side by side, in whatever colour.
test("a notice of a page is made by banner()", async () => {
  const files = await readdir(sources, { recursive: true });
  const byHand: string[] = [];
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    const text = await readFile(path.join(sources, file), "utf8");
    if (/<div class="notice\b/.test(text)) byHand.push(path.basename(file));
  }
  assert.deepEqual(byHand, ["banner.ts"]);
});

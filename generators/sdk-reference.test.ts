import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { referenceFolder, referencePages } from "./sdk-reference.ts";

test("the committed reference is that of the sources: else `npm run generate:reference`", async () => {
  const pages = referencePages();
  assert.deepEqual((await readdir(referenceFolder)).sort(), [...pages.keys()].sort());
  for (const [name, text] of pages)
    assert.equal(await readFile(path.join(referenceFolder, name), "utf8"), text, name);
});

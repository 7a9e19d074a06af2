import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { referenceFolder, writeReference } from "./sdk-reference.ts";

test("the committed reference is that of the sources: else `npm run generate:reference`", async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-reference-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeReference(folder);
  const names = (await readdir(folder)).sort();
  assert.deepEqual((await readdir(referenceFolder)).sort(), names);
  for (const name of names) {
    const [made, committed] = await Promise.all(
      [folder, referenceFolder].map((place) => readFile(path.join(place, name), "utf8")),
    );
    assert.equal(committed, made, name);
  }
});

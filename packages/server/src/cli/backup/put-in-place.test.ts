import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { putInPlace } from "./put-in-place.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-place-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const noLinks = () => Promise.reject(Object.assign(new Error("no links"), { code: "EPERM" }));

for (const [name, linkFile] of [
  ["hard links", undefined],
  ["no hard links", noLinks],
] as const)
  test(`a file takes a name that is free, and replaces none, with ${name}`, async () => {
    const [from, to] = [path.join(folder, `${name} from`), path.join(folder, `${name} to`)];
    await writeFile(from, "restored");
    await putInPlace(from, to, linkFile);
    assert.equal(await readFile(to, "utf8"), "restored");
    await rm(to);
    await writeFile(to, "came meanwhile");
    await writeFile(from, "another");
    await assert.rejects(putInPlace(from, to, linkFile), /something has come to .* meanwhile/);
    assert.equal(await readFile(to, "utf8"), "came meanwhile");
  });

test("a name in a folder that is gone is an error of its own", async () => {
  const from = path.join(folder, "lost");
  await writeFile(from, "x");
  await assert.rejects(putInPlace(from, path.join(folder, "none", "to")), { code: "ENOENT" });
});

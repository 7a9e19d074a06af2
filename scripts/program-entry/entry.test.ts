import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { transform } from "esbuild";
import { writeEntry } from "./write-entry.ts";

let dist: string;
let entry: string;
before(async () => {
  dist = await mkdtemp(path.join(os.tmpdir(), "signet-entry-"));
  entry = path.join(dist, "signet.cjs");
  await writeEntry(dist, { bin: { signet: "./signet.cjs" } });
  const manifest = { type: "module", engines: { node: ">=24" }, bin: { signet: "./signet.cjs" } };
  await writeFile(path.join(dist, "package.json"), JSON.stringify(manifest));
  await writeFile(
    path.join(dist, "main.js"),
    'console.log("runs", process.argv[2]); process.exitCode = 3;\n',
  );
});
after(() => rm(dist, { recursive: true, force: true }));

/** Runs it on this Node, which says that it is another version. */
async function runAs(version: string) {
  const pretend = path.join(dist, "pretend.cjs");
  const versions = JSON.stringify({ ...process.versions, node: version });
  await writeFile(pretend, `Object.defineProperty(process, "versions", { value: ${versions} });`);
  return spawnSync(process.execPath, ["--require", pretend, entry, "start"], { encoding: "utf8" });
}

test("a Node that is too old is told so in one sentence, with what to do", async () => {
  for (const version of ["10.24.1", "18.20.8", "20.20.2", "23.11.1"]) {
    const { status, stdout, stderr } = await runAs(version);
    assert.equal(
      stderr,
      `signet: Node 24 or newer is needed, and this is Node ${version} (${process.execPath}). Install a newer Node, or put one first in PATH.\n`,
    );
    assert.deepEqual([status, stdout], [1, ""]);
  }
});

test("on any other the program runs with its arguments, and ends with its own code", async () => {
  for (const version of ["24.0.0", "26.10.0", "100.0.0"]) {
    const { status, stdout, stderr } = await runAs(version);
    assert.deepEqual([status, stdout, stderr], [3, "runs start\n", ""], version);
  }
  assert.ok((await stat(entry)).mode & 0o100, "executable");
});

test("its first file has no syntax that came after ES5", async () => {
  const text = (await readFile(entry, "utf8")).replace(/^#!.*\n/, "");
  const as = async (target: string) => (await transform(text, { target })).code;
  assert.equal(await as("es5"), await as("esnext"));
  // Of ES2017, which the comparison does not see.
  assert.doesNotMatch(text, /,\s*\)/);
  await assert.rejects(transform("const modern = 1", { target: "es5" }));
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { makeTestFolder } from "./test-folder.ts";

let parent: string;
let named: string | undefined;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), "signet-folder-"));
  named = process.env["TMPDIR"];
  process.env["TMPDIR"] = parent;
});
after(async () => {
  if (named === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = named;
  await rm(parent, { recursive: true, force: true });
});

test("a folder for temporary files that is named is the one that is used", async () => {
  const folder = await makeTestFolder();
  assert.equal(path.dirname(folder), parent);
  assert.equal((await stat(folder)).mode & 0o7777, 0o1733);
});

test("where there is no memory to write to, the ordinary folder does", async () => {
  const set = process.env["TMPDIR"];
  delete process.env["TMPDIR"];
  const ordinary = os.tmpdir();
  const folder = await makeTestFolder(path.join(parent, "nothing"));
  process.env["TMPDIR"] = set;
  assert.equal(path.dirname(folder), ordinary);
  await rm(folder, { recursive: true });
});

test("what a killed run has left behind goes, what a running one has stays", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const [left, own, other] = [`signet-test-${pid}-Ab12cd`, `signet-test-${process.pid}-Ab12cd`, "signet-x"];
  for (const name of [left, own, other]) await mkdir(path.join(parent, name, "inside"), { recursive: true });
  await makeTestFolder();
  const names = await readdir(parent);
  assert.deepEqual([names.includes(left), names.includes(own), names.includes(other)], [false, true, true]);
});

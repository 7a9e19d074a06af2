import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { groupTests, writeGroups } from "./test-groups.ts";

test("every file is in one group, journeys among themselves and before the others", () => {
  const journeys = Array.from({ length: 7 }, (_, index) => `e2e/${index}.test.ts`);
  const files = Array.from({ length: 50 }, (_, index) => `packages/server/src/${index}.test.ts`);
  const groups = groupTests([...files, ...journeys]);
  assert.deepEqual(groups.flat().toSorted(), [...journeys, ...files].toSorted());
  assert.deepEqual(
    groups.map((group) => group.length),
    [4, 3, 17, 17, 16],
  );
  assert.deepEqual(groups.slice(0, 2).flat().toSorted(), journeys);
});

test("what fails in a group fails the run: a test, a hook, a file that cannot be loaded", async (t) => {
  const outcome = await groupsOf(t, {
    "good.test.mjs": 'import { test } from "node:test"; test("good", () => {});',
    "bad.test.mjs": 'import { test } from "node:test"; test("bad", () => { throw new Error("no"); });',
    "hook.test.mjs":
      'import { before, test } from "node:test"; before(() => { throw new Error("no"); }); test("after it", () => {});',
    "unloadable.test.mjs": 'import "./nowhere.mjs";',
  });
  assert.equal((await outcome("good.test.mjs", "good.test.mjs")).code, 0);
  for (const name of ["bad", "hook", "unloadable"]) {
    const { code, out } = await outcome("good.test.mjs", `${name}.test.mjs`);
    assert.equal(code, 1, name);
    assert.match(out, new RegExp(`^not ok .*${name}`, "m"));
    assert.match(out, /^# (fail|cancelled) 1$/m);
    assert.match(out, /^ok .*good/m);
  }
});

test("a group that leaves something open after its tests ends, and fails, naming its files and what is open", async (t) => {
  const outcome = await groupsOf(t, {
    "good.test.mjs": 'import { test } from "node:test"; test("good", () => {});',
    "open.test.mjs":
      'import { createServer } from "node:net"; import { test } from "node:test"; test("starts", (t, done) => { createServer().listen(0, "127.0.0.1", done); });',
  });
  assert.equal((await outcome("good.test.mjs")).code, 0);
  for (const names of [["open.test.mjs", "good.test.mjs"], ["open.test.mjs"]]) {
    const { code, out } = await outcome(...names);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`Still open after all tests of ${names.join(", ")}: .*TCPServerWrap`));
    assert.match(out, /^# pass [12]$/m);
  }
});

test("an uncaught error fails the group and names its test, though node:test doesn't follow its promises", async (t) => {
  const later = (text: string) =>
    `import { test } from "node:test"; test("careless", async () => { await null; ${text} await new Promise((resolve) => setTimeout(resolve, 5_000)); });`;
  const outcome = await groupsOf(t, {
    "good.test.mjs": `import assert from "node:assert"; import { executionAsyncId } from "node:async_hooks"; import { test } from "node:test";
      test("good", async () => { for (let n = 0; n < 3; n += 1) { await null; assert.equal(executionAsyncId(), 0); } });`,
    "thrown.test.mjs": later('setTimeout(() => { throw new Error("no"); });'),
    "rejected.test.mjs": later('Promise.reject(new Error("no"));'),
    "late.test.mjs":
      'import { describe, test } from "node:test"; describe("late", async () => { await new Promise((resolve) => setTimeout(resolve, 300)); test("lost", () => {}); });',
  });
  assert.equal((await outcome("good.test.mjs")).code, 0);
  for (const name of ["thrown", "rejected"]) {
    const { code, out } = await outcome("good.test.mjs", `${name}.test.mjs`);
    assert.equal(code, 1, name);
    assert.match(out, /Uncaught in the test "careless": Error: no/);
    assert.match(out, /^# fail 1$/m);
  }
  const { code, out } = await outcome("good.test.mjs", "late.test.mjs");
  assert.equal(code, 1);
  assert.match(out, /Uncaught in the test "lost": Error: declared after the first test has started/);
});

test("groups run in their order", async (t) => {
  const root = await mkdtemp(path.join(os.tmpdir(), "signet-groups-"));
  t.after(() => rm(root, { recursive: true }));
  const groups = Array.from({ length: 12 }, (_, index) => [`${index}.test.mjs`]);
  const written = await writeGroups(groups, { root, folder: root });
  assert.deepEqual(written.toSorted(), written);
});

/** @param texts of test files by their names @returns runs the named ones in one group */
async function groupsOf(t: TestContext, texts: Readonly<Record<string, string>>) {
  const root = await mkdtemp(path.join(os.tmpdir(), "signet-groups-"));
  t.after(() => rm(root, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) await writeFile(path.join(root, name), text);
  return async (...names: string[]) => {
    const files = await writeGroups([names], { root, folder: root, maxAfterTestsMs: 200 });
    // Not a part of the run that this test is in.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const options = ["--test", "--test-reporter=tap", ...files];
    return new Promise<{ code: unknown; out: string }>((resolve) =>
      execFile(process.execPath, options, { env }, (error, out) => resolve({ code: error?.code ?? 0, out })),
    );
  };
}

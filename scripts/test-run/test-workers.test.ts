import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { inOrder, writeWorkers } from "./test-workers.ts";

test("journeys come first, then what else takes long, each file once", () => {
  const files = ["packages/server/src/a.test.ts", "scripts/b.test.ts", "packages/z.test.ts", "e2e/c.test.ts"];
  assert.deepEqual(inOrder(files), ["e2e/c.test.ts", "scripts/b.test.ts", files[0], files[2]]);
});

test("several workers run every file, each once, and one that crashes leaves its others to the rest", async (t) => {
  const passing = (name: string) =>
    `import { test } from "node:test"; test("runs ${name}", () => new Promise((resolve) => setTimeout(resolve, 20)));`;
  const names = Array.from({ length: 12 }, (_, index) => `${index}.test.mjs`);
  const outcome = await runsOf(t, {
    ...Object.fromEntries(names.map((name) => [name, passing(name)])),
    "crash.test.mjs": 'import { test } from "node:test"; test("crashes", () => { process.exit(7); });',
  });
  const good = await outcome(names, 3);
  assert.equal(good.code, 0);
  for (const name of names) assert.equal(good.out.split(`ok 1 - runs ${name}\n`).length, 2, name);
  assert.match(good.out, /^# fail 0$/m);
  const bad = await outcome(["crash.test.mjs", ...names], 2);
  assert.equal(bad.code, 1);
  for (const name of names) assert.equal(bad.out.split(`ok 1 - runs ${name}\n`).length, 2, name);
  assert.deepEqual([good.leftOut, bad.leftOut], [[], []]);
  const alone = await outcome(["crash.test.mjs", ...names], 1);
  assert.deepEqual([alone.code, alone.leftOut], [1, names]);
});

test("what fails in a file fails the run: a test, a hook, a file that cannot be loaded", async (t) => {
  const outcome = await runsOf(t, {
    "good.test.mjs": 'import { test } from "node:test"; test("good", () => {});',
    "bad.test.mjs": 'import { test } from "node:test"; test("bad", () => { throw new Error("no"); });',
    "hook.test.mjs":
      'import { before, test } from "node:test"; before(() => { throw new Error("no"); }); test("after it", () => {});',
    "unloadable.test.mjs": 'import "./nowhere.mjs";',
  });
  assert.equal((await outcome(["good.test.mjs"])).code, 0);
  for (const name of ["bad", "hook", "unloadable"]) {
    const { code, out } = await outcome(["good.test.mjs", `${name}.test.mjs`]);
    assert.equal(code, 1, name);
    assert.match(out, new RegExp(`^not ok .*${name}`, "m"));
    assert.match(out, /^# (fail|cancelled) 1$/m);
    assert.match(out, /^ok .*good/m);
  }
});

test("a worker that leaves something open after its tests ends, and fails, naming what is open and the file", async (t) => {
  const outcome = await runsOf(t, {
    "good.test.mjs": 'import { test } from "node:test"; test("good", () => {});',
    "open.test.mjs":
      'import { createServer } from "node:net"; import { test } from "node:test"; test("starts", (t, done) => { createServer().listen(0, "127.0.0.1", done); });',
  });
  assert.equal((await outcome(["good.test.mjs"])).code, 0);
  for (const names of [["open.test.mjs", "good.test.mjs"], ["open.test.mjs"]]) {
    const { code, out } = await outcome(names);
    assert.equal(code, 1);
    assert.match(out, /Still open: 1 TCPServerWrap, perhaps of open\.test\.mjs$/m);
    assert.match(out, /^# pass [23]$/m);
  }
});

test("an uncaught error fails the run and names its test, though node:test doesn't follow its promises", async (t) => {
  const later = (text: string) =>
    `import { test } from "node:test"; test("careless", async () => { await null; ${text} await new Promise((resolve) => setTimeout(resolve, 5_000)); });`;
  const outcome = await runsOf(t, {
    "good.test.mjs": `import assert from "node:assert"; import { executionAsyncId } from "node:async_hooks"; import { test } from "node:test";
      test("good", async () => { for (let n = 0; n < 3; n += 1) { await null; assert.equal(executionAsyncId(), 0); } });`,
    "thrown.test.mjs": later('setTimeout(() => { throw new Error("no"); });'),
    "rejected.test.mjs": later('Promise.reject(new Error("no"));'),
    "late.test.mjs":
      'import { describe, test } from "node:test"; test("first", () => {}); describe("late", async () => { await new Promise((resolve) => setTimeout(resolve, 300)); test("lost", () => {}); });',
  });
  assert.equal((await outcome(["good.test.mjs"])).code, 0);
  for (const name of ["thrown", "rejected"]) {
    const { code, out } = await outcome(["good.test.mjs", `${name}.test.mjs`]);
    assert.equal(code, 1, name);
    assert.match(out, /Uncaught in the test "careless": Error: no/);
    assert.match(out, /^# fail 1$/m);
  }
  const { code, out } = await outcome(["good.test.mjs", "late.test.mjs"]);
  assert.equal(code, 1);
  assert.match(out, /Uncaught in the test "lost": Error: declared after the first test has started/);
});

test("tests of a later file find their suites, and uncaught errors in it are named too", async (t) => {
  const nested = (name: string, text = "") =>
    `import { describe, test } from "node:test"; describe("${name}", () => { describe("inner", () => { test("${name}", async () => { await null; ${text} }); }); });`;
  const outcome = await runsOf(t, {
    "first.test.mjs": nested("first"),
    "second.test.mjs": nested("second"),
    "third.test.mjs": nested(
      "third",
      "setTimeout(() => { throw new Error('no'); }); await new Promise(() => {});",
    ),
  });
  const good = await outcome(["first.test.mjs", "second.test.mjs"]);
  assert.equal(good.code, 0);
  for (const name of ["first", "second"]) assert.match(good.out, new RegExp(`^ {12,}ok 1 - ${name}$`, "m"));
  const bad = await outcome(["first.test.mjs", "second.test.mjs", "third.test.mjs"]);
  assert.equal(bad.code, 1);
  assert.match(bad.out, /Uncaught in the test "third": Error: no/);
});

/** @param texts of test files by their names @returns runs the named ones, in one worker unless it says how many */
async function runsOf(t: TestContext, texts: Readonly<Record<string, string>>) {
  const root = await mkdtemp(path.join(os.tmpdir(), "signet-workers-"));
  t.after(() => rm(root, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) await writeFile(path.join(root, name), text);
  return async (names: readonly string[], count = 1) => {
    const folder = await mkdtemp(path.join(root, "run-"));
    const { files, leftOut } = await writeWorkers(names, { root, folder, count, maxAfterTestsMs: 200 });
    // Not a part of the run that this test is in.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const options = ["--test", `--test-concurrency=${count}`, "--test-reporter=tap", ...files];
    const { code, out } = await new Promise<{ code: unknown; out: string }>((resolve) =>
      execFile(process.execPath, options, { env }, (error, out) => resolve({ code: error?.code ?? 0, out })),
    );
    return { code, out, leftOut: await leftOut() };
  };
}

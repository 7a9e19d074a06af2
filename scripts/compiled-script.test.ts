/** A script keeps what V8 compiled of it, with the functions that were called: the next start compiles nothing of them. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { runCommand } from "./run-command.ts";

const module = pathToFileURL(path.join(import.meta.dirname, "compiled-script.mjs")).href;

const HEAD_BYTES = 8;

/** Two functions of the same size. */
const body = (name: string) =>
  `exports.${name} = function (n) { ${Array.from({ length: 200 }, (_, index) => `if (n === ${index}) return n * ${index + 7};`).join("")} };`;
const SCRIPT = `${body("called")}\n${body("uncalled")}\nexports.system = require("node:os").platform();`;

async function someScript(t: TestContext) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-script-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [file, kept] = [path.join(folder, "program.js"), path.join(folder, "kept")];
  await writeFile(file, SCRIPT);
  const run = async (then: string) => {
    const options = JSON.stringify({ from: file, kept });
    const program = `import { runScript } from ${JSON.stringify(module)}; const program = runScript(${JSON.stringify(file)}, ${options}); ${then}`;
    const done = await runCommand(process.execPath, ["--input-type=module", "--eval", program]);
    assert.equal(done.stderr, "");
    return done.stdout.trim();
  };
  return { folder, kept, run };
}

test("what it exports is there, and it finds modules", async (t) => {
  const { run } = await someScript(t);
  assert.equal(await run("console.log(program.called(2), program.system)"), `18 ${os.platform()}`);
});

test("functions that were called are kept, others are not", async (t) => {
  const { kept, run } = await someScript(t);
  await run("");
  const without = (await readFile(kept)).length;
  await rm(kept);
  await run("program.called(1)");
  const withOne = (await readFile(kept)).length;
  assert.ok(withOne > without + 1_000, `${without} bytes, then ${withOne}`);
});

test("what is kept is used as it is, and made anew when it does not fit", async (t) => {
  const { folder, kept, run } = await someScript(t);
  await run("program.called(1)");
  const first = await readFile(kept);
  assert.equal(
    new Script(`(function (exports, require, module) {${SCRIPT}\n})`, {
      cachedData: first.subarray(HEAD_BYTES),
    }).cachedDataRejected,
    false,
  );
  await run("program.called(1); program.uncalled(1)");
  assert.deepEqual(await readFile(kept), first);
  await writeFile(kept, "of another version");
  assert.equal(await run("console.log(program.called(2))"), "18");
  assert.ok((await readFile(kept)).length > 1_000);
  assert.deepEqual((await readdir(folder)).toSorted(), ["kept", "program.js"]);
});

test("what is damaged is not run, which would end the process, and made anew", async (t) => {
  const { kept, run } = await someScript(t);
  await run("program.called(1); program.uncalled(1)");
  const whole = await readFile(kept);
  for (const part of [0.2, 0.4, 0.6, 0.8]) {
    const damaged = Buffer.from(whole);
    const at = Math.floor(damaged.length * part);
    damaged.fill(0, at, at + 512);
    await writeFile(kept, damaged);
    assert.equal(await run("console.log(program.called(2), program.uncalled(3))"), "18 30");
    assert.ok(!(await readFile(kept)).equals(damaged), `made anew, damaged at ${part}`);
  }
});

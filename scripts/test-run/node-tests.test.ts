import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { runNodeTests } from "./node-tests.ts";

suite("a run of tests", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-runs-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const exitCode = async (files: Record<string, string>, options: string[] = []) => {
    const { NODE_TEST_CONTEXT: _, CI: __, ...env } = process.env;
    const written = Object.entries(files).map(async ([name, text]) => {
      await writeFile(path.join(folder, name), text);
      return path.join(folder, name);
    });
    const skippedFile = path.join(folder, "skipped");
    await rm(skippedFile, { force: true });
    return runNodeTests({ files: await Promise.all(written), options, env, timeoutMs: 60_000, skippedFile });
  };
  const passing = `import { test } from "node:test"; test("passes", () => {});`;

  test("fails when it ends before its tests, even with 0", async () => {
    const setup = path.join(folder, "setup.mjs");
    await writeFile(setup, "export const globalSetup = () => process.exit(0);");
    assert.equal(await exitCode({ "a.test.mjs": passing }), 0);
    assert.equal(await exitCode({ "a.test.mjs": passing }, [`--test-global-setup=${setup}`]), 1);
  });
});

/** An older Node is told which one is needed, in a sentence and without a stack trace. */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { runCommand } from "./run-command.ts";

const entry = path.join(import.meta.dirname, "signet.mjs");
const run = (version: string) => {
  const asIf = `data:text/javascript,Object.defineProperty(process,"version",{value:"${version}"})`;
  return runCommand(process.execPath, ["--import", asIf, entry, "--version"]);
};

test("signet.mjs ends with a sentence where Node is too old", async () => {
  for (const version of ["v20.20.2", "v22.21.0"]) {
    const { exitCode, stdout, stderr } = await run(version);
    assert.deepEqual([exitCode, stdout], [1, ""]);
    assert.match(stderr, new RegExp(`^Signet needs Node 24 or later, and this is ${version}\\. [^\n]*\n$`));
  }
});

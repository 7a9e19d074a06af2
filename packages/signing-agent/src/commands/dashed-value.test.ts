import assert from "node:assert/strict";
import { test } from "node:test";
import { runCommandLine } from "./run-command-line.ts";

test("an option's value may begin with a dash, and an option in its place is told", async () => {
  const err: string[] = [];
  const run = (...words: string[]) =>
    runCommandLine(words, {
      print: () => {},
      printError: (line) => err.push(line),
      clock: () => 0,
      terminal: undefined,
      onSignal: () => {},
    });
  for (const kid of ["-kid", "--of-two"]) {
    assert.equal(await run("keys", "register", "--kid", kid, "--print", "--config", "-none.yaml"), 1);
    assert.match(err.pop() ?? "", /no such file.*-none\.yaml/);
  }
  assert.equal(await run("keys", "register", "--print", "--kid", "--config", "none.yaml"), 2);
});

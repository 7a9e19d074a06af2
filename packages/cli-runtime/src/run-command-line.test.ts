import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { type Call, type Command, ExitError, repeatedTexts } from "./command.ts";
import { runCommandLine } from "./run-command-line.ts";

describe("a command line", () => {
  const out: string[] = [];
  const err: string[] = [];
  const calls: Call[] = [];
  let outcome: () => number;
  const command: Command = {
    name: "keys show",
    summary: "show a key",
    usage: "FILE --kid KID",
    options: {
      kid: { type: "string", help: "the key", required: true },
      scope: { type: "string", multiple: true, help: "a scope" },
      all: { type: "boolean", help: "all of them" },
    },
    maxPositionals: 1,
    run: async (call) => {
      calls.push(call);
      return outcome();
    },
  };
  const exitCodesHelp = "Exit code 0: success";
  const exitCodeOf = (error: unknown) => (error instanceof TypeError ? 6 : 1);
  const program = { name: "signet-test", summary: "tests", commands: [command], exitCodesHelp, exitCodeOf };
  const run = (...words: string[]) =>
    runCommandLine(program, words, {
      print: (line) => out.push(line),
      printError: (line) => err.push(line),
      clock: () => 0,
      onSignal: () => {},
    });
  beforeEach(() => {
    for (const lines of [out, err, calls]) lines.length = 0;
    outcome = () => 0;
  });

  test("values may begin with a dash", async () => {
    for (const kid of ["-kid", "--of-two", "-h", "-"]) {
      assert.equal(
        await run("keys", "show", "--kid", kid, "--scope", "-a", "--scope", "b", "--all", "file"),
        0,
      );
      const { values, positionals } = calls.pop() ?? assert.fail();
      assert.deepEqual([values["kid"], values["all"], positionals], [kid, true, ["file"]]);
      assert.deepEqual(repeatedTexts(values, "scope"), ["-a", "b"]);
    }
  });

  test("an option without its value, unknown words and missing options are usage errors", async () => {
    const wrong = [
      ["keys", "show", "--kid", "--all"],
      ["keys", "show"],
      ["keys", "show", "--kid", " "],
      ["keys", "show", "--kid", "k", "--unknown"],
      ["keys", "show", "--kid", "k", "one", "two"],
      ["keys"],
      ["sing"],
    ];
    for (const words of wrong) assert.equal(await run(...words), 2, words.join(" "));
    assert.deepEqual(calls, []);
    assert.match(err.join("\n"), /--kid is missing/);
  });

  test("help lists the commands, and a command's options", async () => {
    for (const words of [[], ["--help"], ["help"], ["-h"]]) assert.equal(await run(...words), 0);
    assert.match(out[0] ?? "", /signet-test keys show {2}show a key[\s\S]*Exit code 0/);
    assert.equal(await run("help", "keys", "show"), 0);
    assert.match(out.at(-1) ?? "", /--kid VALUE[\s\S]*--all {2}/);
    assert.deepEqual(calls, []);
  });

  test("an error decides the exit code, and its message holds no secret", async () => {
    const errors: ReadonlyArray<readonly [Error, number]> = [
      [new ExitError(3, "revoked"), 3],
      [new TypeError("later"), 6],
      [new Error("refused", { cause: new Error("Bearer abcdef") }), 1],
    ];
    for (const [error, code] of errors) {
      outcome = () => {
        throw error;
      };
      assert.equal(await run("keys", "show", "--kid", "k"), code);
    }
    assert.deepEqual(err.at(-1), "signet-test keys show: refused: Bearer [redacted]");
  });

  test("what a command prints as an error is redacted too", async () => {
    outcome = () => {
      calls[0]?.io.printError("code 8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA");
      return 0;
    };
    await run("keys", "show", "--kid", "k");
    assert.deepEqual(err, ["code [redacted]"]);
  });
});

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { eventually } from "../testing/eventually.ts";
import { UsageError } from "./command.ts";
import { terminal } from "./terminal.ts";

/** @param isTTY whether a person types */
function fakeStreams(isTTY: boolean) {
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: (_raw: boolean) => {} });
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let shown = "";
  for (const stream of [stdout, stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
    });
  }
  /** Types the text once the question has been shown. */
  const answer = async (question: string, text: string) => {
    await eventually(`the terminal asks: ${question}`, () => shown.endsWith(question));
    stdin.write(text);
  };
  return { streams: { stdin, stdout, stderr }, shown: () => shown, answer };
}

test("reads the first line of piped input only", async () => {
  const { streams } = fakeStreams(false);
  streams.stdin.end("plum tractor ninety \r\nsecond line\n");
  assert.equal(await terminal(streams).readSecret("New password"), "plum tractor ninety ");
});

test("doesn't wait for a pipe that stays open", async () => {
  const { streams } = fakeStreams(false);
  streams.stdin.write("plum tractor ninety\n");
  assert.equal(await terminal(streams).readSecret("New password"), "plum tractor ninety");
  assert.ok(streams.stdin.destroyed);
});

test("reads empty input as an empty password", async () => {
  const { streams } = fakeStreams(false);
  streams.stdin.end();
  assert.equal(await terminal(streams).readSecret("New password"), "");
});

test("prompts twice for the password without echo", async () => {
  const { streams, shown, answer } = fakeStreams(true);
  const read = terminal(streams).readSecret("New password");
  await answer("New password: ", "plum tractorx\u007f ninety\r");
  await answer("Repeat password: ", "plum tractor ninety\r");
  assert.equal(await read, "plum tractor ninety");
  assert.equal(shown(), "New password: \nRepeat password: \n");
});

test("accepts input typed ahead of the prompt without echo", async () => {
  const { streams, shown } = fakeStreams(true);
  const rawAtQuestion: boolean[] = [];
  let isRaw = false;
  streams.stdin.setRawMode = (raw: boolean) => {
    isRaw = raw;
  };
  streams.stderr.on("data", () => rawAtQuestion.push(isRaw));
  const read = terminal(streams).readSecret("New password");
  streams.stdin.write("plum tractor ninety\rplum tractor ninety\r");
  assert.equal(await read, "plum tractor ninety");
  assert.equal(shown(), "New password: \nRepeat password: \n");
  assert.equal(isRaw, false);
  assert.ok(rawAtQuestion[0], "echo is off before the question is shown");
});

test("rejects passwords that don't match", async () => {
  const { streams, answer } = fakeStreams(true);
  const read = terminal(streams).readSecret("New password");
  await answer("New password: ", "plum tractor ninety\r");
  await answer("Repeat password: ", "plum tractor nine\r");
  await assert.rejects(read, UsageError);
});

for (const [name, key] of [
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
] as const) {
  test(`${name} ends the question with an error`, async () => {
    const { streams, answer } = fakeStreams(true);
    const read = terminal(streams).readSecret("New password");
    await Promise.all([assert.rejects(read, /no password entered/), answer("New password: ", key)]);
  });
}

test("ignores a closed pipe, and reports any other write error", () => {
  const { streams } = fakeStreams(false);
  terminal(streams).print("one line");
  streams.stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  assert.throws(() => streams.stdout.emit("error", new Error("no space left")), /no space left/);
});

test("accepts only the full word yes", async () => {
  for (const [text, said] of [
    ["yes\r", true],
    [" YES \r", true],
    ["y\r", false],
    ["\r", false],
    ["no\r", false],
  ] as const) {
    const { streams, answer } = fakeStreams(true);
    const asked = terminal(streams).confirm("Apply this?");
    await answer("Apply this? Type yes to continue: ", text);
    assert.equal(await asked, said, JSON.stringify(text));
  }
});

test("asks no confirmation without a terminal", async () => {
  const { streams, shown } = fakeStreams(false);
  streams.stdin.end("yes\n");
  assert.equal(await terminal(streams).confirm("Apply this?"), undefined);
  assert.equal(shown(), "");
});

test("treats end of input as a no", async () => {
  const { streams } = fakeStreams(true);
  const asked = terminal(streams).confirm("Apply this?");
  streams.stdin.end();
  assert.equal(await asked, false);
});

/** Reading and writing on the terminal or the pipes of the process. */
import { createInterface } from "node:readline";
import { type Readable, Writable } from "node:stream";
import { type Io, UsageError } from "./command.ts";

export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

export function terminal(streams: Streams = process): Io {
  const { stdin, stdout, stderr } = streams;
  for (const stream of [stdout, stderr]) stream.on("error", ignoreClosedPipe);
  return {
    print: (line) => void stdout.write(`${line}\n`),
    printError: (line) => void stderr.write(`${line}\n`),
    readSecret: (question) => (stdin.isTTY ? askTwice(streams, question) : readFirstLine(stdin)),
    confirm: async (question) => (stdin.isTTY ? askYes(streams, question) : undefined),
  };
}

/** `signet user list | head`: a reader that closes the pipe early is not an error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Without the line break; empty when standard input is empty. */
async function readFirstLine(stdin: Readable): Promise<string> {
  const reader = createInterface({ input: stdin, terminal: false });
  try {
    for await (const line of reader) return line;
    return "";
  } finally {
    reader.close();
    // A writer that keeps the pipe open must not keep the process alive.
    stdin.destroy();
  }
}

/** Prompts go to standard error: standard output is for the result. */
async function askTwice({ stdin, stderr }: Streams, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // One reader for both prompts, opened before the first: nothing typed from here on is echoed.
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  reader.once("SIGINT", () => reader.close());
  const lines = reader[Symbol.asyncIterator]();
  const ask = async (text: string): Promise<string> => {
    stderr.write(`${text}: `);
    const line = await lines.next();
    stderr.write("\n");
    // Ctrl-C or Ctrl-D: plain characters while the terminal is in raw mode.
    if (line.done) throw new Error("no password entered");
    return line.value;
  };
  try {
    const typed = await ask(question);
    if (typed !== (await ask("Repeat password"))) throw new UsageError("the passwords don't match");
    return typed;
  } finally {
    reader.close();
  }
}

/** Only the full word yes confirms. */
async function askYes({ stdin, stderr }: Streams, question: string): Promise<boolean> {
  const reader = createInterface({ input: stdin, output: stderr, historySize: 0 });
  reader.once("SIGINT", () => reader.close());
  try {
    stderr.write(`${question} Type yes to continue: `);
    const { done, value } = await reader[Symbol.asyncIterator]().next();
    return !done && value.trim().toLowerCase() === "yes";
  } finally {
    reader.close();
  }
}

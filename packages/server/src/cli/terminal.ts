/** The terminal, or the pipes, that a command was started with. */
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

/** `signet user list | head`: the reader has seen enough, which is no error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Without its line end; empty when nothing is piped in. */
async function readFirstLine(stdin: Readable): Promise<string> {
  const reader = createInterface({ input: stdin, terminal: false });
  try {
    for await (const line of reader) return line;
    return "";
  } finally {
    reader.close();
    // Whoever holds the other end open must not keep the command from ending.
    stdin.destroy();
  }
}

/** The questions go to standard error: standard output belongs to the answer. */
async function askTwice({ stdin, stderr }: Streams, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // One reader for both, and before the first question: from here on nothing that is typed is shown.
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  reader.once("SIGINT", () => reader.close());
  const lines = reader[Symbol.asyncIterator]();
  const ask = async (text: string): Promise<string> => {
    stderr.write(`${text}: `);
    const line = await lines.next();
    stderr.write("\n");
    // Ctrl-C or Ctrl-D, which are plain characters here.
    if (line.done) throw new Error("no password was typed");
    return line.value;
  };
  try {
    const typed = await ask(question);
    if (typed !== (await ask("Once more"))) throw new UsageError("the two are not the same");
    return typed;
  } finally {
    reader.close();
  }
}

/** Anything but a whole yes is a no. */
async function askYes({ stdin, stderr }: Streams, question: string): Promise<boolean> {
  const reader = createInterface({ input: stdin, output: stderr, historySize: 0 });
  reader.once("SIGINT", () => reader.close());
  try {
    stderr.write(`${question} Type yes to go on: `);
    const { done, value } = await reader[Symbol.asyncIterator]().next();
    return !done && value.trim().toLowerCase() === "yes";
  } finally {
    reader.close();
  }
}

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
    readSecret: async (question) => {
      if (!stdin.isTTY) return readFirstLine(stdin);
      const typed = await askHidden(streams, `${question}: `);
      if (typed !== (await askHidden(streams, "Once more: ")))
        throw new UsageError("the two are not the same");
      return typed;
    },
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

/** The question goes to standard error: standard output belongs to the answer. */
function askHidden({ stdin, stderr }: Streams, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  stderr.write(question);
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    reader.once("line", resolve);
    // Raw mode turns Ctrl-C and Ctrl-D into plain characters, which readline names.
    reader.once("SIGINT", () => reject(new Error("interrupted")));
    reader.once("close", () => reject(new Error("no password was typed")));
  }).finally(() => {
    reader.close();
    stderr.write("\n");
  });
}

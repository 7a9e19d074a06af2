/** The process's own streams, clock and signals, for `main.ts`. */
import type { Io } from "./command.ts";

export function standardIo(): Io {
  const { stdout, stderr } = process;
  // The reader of the log has gone away: the program carries on.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  return {
    print: (line) => void stdout.write(`${line}\n`),
    printError: (line) => void stderr.write(`${line}\n`),
    clock: Date.now,
    onSignal: (signal, listener) => void process.on(signal, listener),
  };
}

#!/usr/bin/env node
/** The command line. */
import { runCommandLine } from "./commands/run-command-line.ts";

const { stdin, stdout, stderr } = process;

// Who reads the log has gone: no reason to sign nothing more.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  print: (line) => void stdout.write(`${line}\n`),
  printError: (line) => void stderr.write(`${line}\n`),
  clock: Date.now,
  terminal: stdin.isTTY ? { input: stdin, output: stderr } : undefined,
  onSignal: (signal, told) => void process.on(signal, told),
});

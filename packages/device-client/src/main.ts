#!/usr/bin/env node
/** The command line. */
import { createInterface } from "node:readline/promises";
import { setTimeout as delay } from "node:timers/promises";
import { runCommandLine } from "./commands/run-command-line.ts";

const { stdin, stdout, stderr } = process;

// Who reads the log has gone: no reason to renew nothing more.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  print: (line) => void stdout.write(`${line}\n`),
  printError: (line) => void stderr.write(`${line}\n`),
  clock: Date.now,
  random: Math.random,
  environment: process.env,
  readLine: async () => {
    const lines = createInterface({ input: stdin });
    for await (const line of lines) return line;
    return "";
  },
  pause: (milliseconds, signal) =>
    delay(milliseconds, undefined, signal ? { signal } : {}).catch(() => undefined),
  onSignal: (signal, told) => void process.on(signal, told),
});

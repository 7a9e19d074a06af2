#!/usr/bin/env node
/** The `signet-device` program. */
import { createInterface } from "node:readline/promises";
import { pause } from "@signet/cli-runtime/backoff";
import { standardIo } from "@signet/cli-runtime/command";
import { runDeviceCommandLine } from "./commands/device-command-line.ts";

process.exitCode = await runDeviceCommandLine(process.argv.slice(2), {
  ...standardIo(),
  random: Math.random,
  environment: process.env,
  readLine: async () => {
    for await (const line of createInterface({ input: process.stdin })) return line;
    return "";
  },
  pause,
});

#!/usr/bin/env node
/** The `signet-agent` program. */
import { standardIo } from "@signet/cli-runtime/command";
import { runAgentCommandLine } from "./commands/agent-command-line.ts";

const { stdin, stderr } = process;
process.exitCode = await runAgentCommandLine(process.argv.slice(2), {
  ...standardIo(),
  terminal: stdin.isTTY ? { input: stdin, output: stderr } : undefined,
});

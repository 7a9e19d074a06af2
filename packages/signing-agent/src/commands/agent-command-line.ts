/** `signet-agent`: its commands. Exit codes: 0 success; 1 refused or failed; 2 usage error. */
import { type Program, runCommandLine } from "@signet/cli-runtime/run-command-line";
import { enrollCommand } from "./enroll-command.ts";
import { journalVerifyCommand } from "./journal-command.ts";
import { keysCreateCommand, keysListCommand, keysRegisterCommand } from "./keys-commands.ts";
import type { AgentIo } from "./options.ts";
import { policyCheckCommand, policyTestCommand } from "./policy-commands.ts";
import { runCommand } from "./run-command.ts";

export const agentProgram: Program<AgentIo> = {
  name: "signet-agent",
  summary: "holds an organisation's signing keys and signs tokens that its policy allows",
  commands: [
    enrollCommand,
    runCommand,
    keysListCommand,
    keysCreateCommand,
    keysRegisterCommand,
    policyCheckCommand,
    policyTestCommand,
    journalVerifyCommand,
  ],
  exitCodesHelp: "Exit codes: 0 success; 1 refused or failed; 2 usage error.",
};

/** @returns the exit code */
export const runAgentCommandLine = (args: readonly string[], io: AgentIo): Promise<number> =>
  runCommandLine(agentProgram, args, io);

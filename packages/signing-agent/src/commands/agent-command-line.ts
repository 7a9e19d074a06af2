/** `signet-agent`: its commands, among them `run`. */
import { jsonLog } from "@signet/cli-runtime/log";
import { type Program, runCommandLine } from "@signet/cli-runtime/run-command-line";
import { type OpenAgent, openAgent } from "../agent/open-agent.ts";
import { readConfiguration } from "../configuration/configuration.ts";
import { enrollCommand } from "./enroll-command.ts";
import { healthCommand } from "./health-command.ts";
import { keysCreateCommand, keysListCommand, keysRegisterCommand } from "./keys-commands.ts";
import { type AgentCommand, type AgentIo, configFile, configOption } from "./options.ts";
import { journalVerifyCommand, policyCheckCommand, policyTestCommand } from "./policy-commands.ts";
import { thresholdDealCommand, thresholdReshareCommand } from "./reshare-commands.ts";
import {
  thresholdAbortCommand,
  thresholdConfirmCommand,
  thresholdCreateCommand,
  thresholdJoinCommand,
  thresholdRecoverCommand,
  thresholdVerifyCommand,
} from "./threshold-commands.ts";
import { witnessCreateCommand, witnessRunCommand, witnessShowCommand } from "./witness-commands.ts";

/** Until SIGTERM or SIGINT; SIGHUP reloads the policy. */
const runCommand: AgentCommand = {
  name: "run",
  summary: "sign what the policy allows until stopped",
  usage: "[--config FILE]",
  options: configOption,
  run: async ({ values, io }) => {
    const configuration = await readConfiguration(configFile(values));
    const log = jsonLog(io.print, io.clock);
    let agent: OpenAgent | undefined;
    let reloadRequested = false;
    // Before anything slow: by default SIGHUP would end the process.
    io.onSignal("SIGHUP", () => {
      reloadRequested = true;
      void agent?.reload();
    });
    agent = await openAgent(configuration, { log, clock: io.clock, terminal: io.terminal });
    if (reloadRequested) void agent.reload();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      io.onSignal(signal, () => {
        log("info", "agent stopping", { signal });
        stop();
      });
    await stopped;
    await agent.stop();
    return 0;
  },
};

export const agentProgram: Program<AgentIo> = {
  name: "signet-agent",
  summary: "holds an organisation's signing keys and signs tokens that its policy allows",
  commands: [
    enrollCommand,
    runCommand,
    healthCommand,
    keysListCommand,
    keysCreateCommand,
    keysRegisterCommand,
    policyCheckCommand,
    policyTestCommand,
    journalVerifyCommand,
    thresholdCreateCommand,
    thresholdJoinCommand,
    thresholdReshareCommand,
    thresholdDealCommand,
    thresholdConfirmCommand,
    thresholdAbortCommand,
    thresholdVerifyCommand,
    thresholdRecoverCommand,
    witnessCreateCommand,
    witnessRunCommand,
    witnessShowCommand,
  ],
  exitCodesHelp: "Exit codes: 0 success; 1 refused or failed; 2 usage error.",
};

/** @returns the exit code */
export const runAgentCommandLine = (args: readonly string[], io: AgentIo): Promise<number> =>
  runCommandLine(agentProgram, args, io);

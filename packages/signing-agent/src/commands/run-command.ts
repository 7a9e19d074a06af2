/** `signet-agent run`: until SIGTERM or SIGINT; SIGHUP reads the policy again. */
import { readConfiguration } from "../configuration.ts";
import { jsonLog } from "../log.ts";
import { type OpenAgent, openAgent } from "../run-agent.ts";
import { type Command, configFile, configOption } from "./command.ts";

export const runAgentCommand: Command = {
  name: "run",
  summary: "sign what the policy allows, until stopped",
  usage: "[--config FILE]",
  options: configOption,
  run: async ({ values, io }) => {
    const configuration = await readConfiguration(configFile(values));
    const log = jsonLog(io.print, io.clock);
    const terminal = io.terminal && { terminal: io.terminal };
    let agent: OpenAgent | undefined;
    let isReloadAsked = false;
    // Before anything that takes long: unheard, the signal would end the program.
    io.onSignal("SIGHUP", () => {
      isReloadAsked = true;
      void agent?.reload();
    });
    agent = await openAgent(configuration, { log, clock: io.clock, ...terminal });
    if (isReloadAsked) void agent.reload();
    await new Promise<void>((resolve) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        io.onSignal(signal, () => {
          log("info", "agent stops", { signal });
          resolve();
        });
    });
    await agent.stop();
    return 0;
  },
};

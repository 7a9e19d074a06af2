/** `signet-agent run`: until SIGTERM or SIGINT; SIGHUP reads the policy again. */
import { readConfiguration } from "../configuration.ts";
import { jsonLog } from "../log.ts";
import { openAgent } from "../run-agent.ts";
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
    const agent = await openAgent(configuration, { log, clock: io.clock, ...terminal });
    await new Promise<void>((resolve) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        io.onSignal(signal, () => {
          log("info", "agent stops", { signal });
          resolve();
        });
      io.onSignal("SIGHUP", () => void agent.reload());
    });
    await agent.stop();
    return 0;
  },
};

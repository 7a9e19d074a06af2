/** `signet-agent run`: until SIGTERM or SIGINT; SIGHUP reloads the policy. */
import { jsonLog } from "@signet/cli-runtime/log";
import { type OpenAgent, openAgent } from "../agent/open-agent.ts";
import { readConfiguration } from "../configuration/configuration.ts";
import { type AgentCommand, configFile, configOption } from "./options.ts";

export const runCommand: AgentCommand = {
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

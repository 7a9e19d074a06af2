/** `health`: asks the running agent whether the service answers it, for containers without a shell. */
import { type Configuration, readConfiguration } from "../configuration/configuration.ts";
import { type AgentCommand, configFile, configOption } from "./options.ts";

const ANSWER_MS = 3_000;

export const healthCommand: AgentCommand = {
  name: "health",
  summary: "ask the running agent whether the service answers it",
  usage: "[--config FILE]",
  options: configOption,
  run: async ({ values, io }) => {
    const file = configFile(values);
    const { metrics } = await readConfiguration(file);
    const { isHealthy, words } = metrics
      ? await askAgent(metrics)
      : { isHealthy: false, words: `${file} has no metrics: set its port, where the agent can be asked` };
    (isHealthy ? io.print : io.printError)(words);
    return isHealthy ? 0 : 1;
  },
};

async function askAgent({ host = "127.0.0.1", port }: NonNullable<Configuration["metrics"]>) {
  const address =
    { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  const url = `http://${address}:${port}/healthz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    return { isHealthy: answer.status === 200, words: (await answer.text()).slice(0, 200).trim() };
  } catch {
    return { isHealthy: false, words: `${url} does not answer: no agent is running` };
  }
}

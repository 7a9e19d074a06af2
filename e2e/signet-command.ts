/** The operator's command line, as a program of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { nodeEnvironment } from "../packages/server/src/testing/node-environment.ts";

const program = fileURLToPath(new URL("../packages/server/src/main.ts", import.meta.url));
const limitMs = 30_000;

/**
 * Runs `signet <args> --json` with these settings and gives its document.
 * @throws Error with what the command wrote to standard error when it does not end with 0
 */
export async function signet(
  args: readonly string[],
  settings: Record<string, string | undefined>,
): Promise<Record<string, unknown>> {
  const env = { ...nodeEnvironment(), ...settings };
  const options = { env, timeout: limitMs, killSignal: "SIGKILL" } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, "--json"], options);
  return JSON.parse(stdout) as Record<string, unknown>;
}

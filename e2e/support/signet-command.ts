/** The operator's command line beside a running server: in this process, which takes a tenth of a program's start. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { type Environment, runForJson } from "../../packages/server/src/testing/command-line.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { nodeEnvironment } from "../../packages/server/src/testing/node-environment.ts";

export type Settings = Readonly<Record<string, string | undefined>>;

/**
 * Runs `signet <args> --json` with these settings and gives its document.
 * @throws Error with what the command wrote when it does not end with 0
 */
export async function signet(args: readonly string[], settings: Settings): Promise<Record<string, unknown>> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return runForJson(args, Object.fromEntries(given) as Environment);
}

/** The same by another version's program. */
export const signetOf =
  (program: string): typeof signet =>
  async (args, settings) => {
    const env = { ...nodeEnvironment(), ...settings };
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, "--json"], { env });
    return JSON.parse(stdout) as Record<string, unknown>;
  };

/**
 * Waits until the server has heard of all commands before: what it remembers is dropped all at once, so that news of the
 * demo's second organisation, which it remembers, are news of everything.
 */
export async function commandsApplied({ otherOrg }: DemoFile, settings: Settings): Promise<void> {
  const status = async () => {
    const answer = await fetch(`${otherOrg.issuer}/.well-known/openid-configuration`);
    await answer.body?.cancel();
    return answer.status;
  };
  await eventually("it is remembered", async () => (await status()) === 200);
  await signet(["org", "disable", otherOrg.org], settings);
  await eventually("the server has heard", async () => (await status()) === 404);
  await signet(["org", "disable", otherOrg.org, "--enable"], settings);
}

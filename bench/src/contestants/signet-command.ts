/** The `signet` command and its neighbours, as an operator types them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { entry } from "./signet-server.ts";

const execute = promisify(execFile);

/** @returns what it prints with `--json` */
export async function runSignet(
  settings: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Record<string, string>> {
  return JSON.parse(await runProgram(entry, [...args, "--json"], settings)) as Record<string, string>;
}

/** @returns what it prints. @throws Error with what it prints as errors */
export async function runProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { env: { PATH: process.env["PATH"], ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await execute(process.execPath, [file, ...args], options);
  return stdout;
}

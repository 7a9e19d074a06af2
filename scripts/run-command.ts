import { spawn } from "node:child_process";

export type CommandResult = { exitCode: number; stdout: string; stderr: string };

export type CommandOptions = { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number };

/**
 * Runs a command to its end and gives what it printed. A command ended by a signal, or by `timeoutMs`, has exit code -1.
 * @throws Error when the command cannot be started at all
 */
export function runCommand(
  command: string,
  parameters: string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      timeout: options.timeoutMs,
      killSignal: "SIGKILL",
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ exitCode: code ?? -1, stdout, stderr }));
  });
}

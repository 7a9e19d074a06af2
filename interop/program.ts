/** A program of others that listens, until the test ends it. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { guardProcess } from "../e2e/support/process-guard.ts";
import { systemPath } from "../e2e/support/programs.ts";
import { eventually } from "../packages/server/src/testing/eventually.ts";

export interface RunningProgram {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it printed so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  /** Where it listens. */
  readonly port: number;
  readonly folder?: string;
  /** How it is stopped. Default: SIGKILL, for those that keep nothing. */
  readonly signal?: "SIGKILL" | "SIGTERM";
  readonly startsWithinMs?: number;
  /** As whom, for programs that refuse to be root's. Default: as we are. */
  readonly uid?: number;
  readonly gid?: number;
}

/** @throws Error with the program's own words when it does not listen in time */
export async function startProgram(
  name: string,
  [program, ...parameters]: readonly [string, ...string[]],
  { port, folder, signal = "SIGKILL", startsWithinMs = 60_000, ...user }: ProgramOptions,
): Promise<RunningProgram> {
  const env = { ...process.env, PATH: systemPath() };
  const child = spawn(program, parameters, {
    env,
    ...user,
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  guardProcess(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString("latin1");
    });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  try {
    await eventually(
      `${name} listens`,
      () => {
        if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
        return isListening(port);
      },
      startsWithinMs,
    );
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start: ${output}`, { cause: error });
  }
  return { child, output: () => output, stop };
}

/** By the system's table: some servers count any connection as their one. */
function isListening(port: number): boolean {
  const socket = new RegExp(
    `^\\s*\\d+: \\w+:${port.toString(16).toUpperCase().padStart(4, "0")} \\w+:\\w+ 0A `,
    "m",
  );
  return ["/proc/net/tcp", "/proc/net/tcp6"].some((file) => socket.test(readFileSync(file, "utf8")));
}

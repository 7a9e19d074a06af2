/** `signet start` as a program of its own, on a free port of this machine. */
import { once } from "node:events";
import { guardProcess } from "../../../../e2e/support/process-guard.ts";
import { collect, type Environment, startProgram } from "./command-line.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

export interface StartedProgram {
  readonly pid: number;
  readonly port: number;
  readonly baseUrl: string;
  /** From the start of the process until /readyz said so. */
  readonly readyMs: number;
  /** All of standard output. */
  out(): string;
  err(): string;
  /** The lines of the log; what is printed for people is left out. */
  logLines(): string[];
  /** @returns exit code and signal, and how long it took; SIGKILL when it does not end within a minute */
  stop(
    signal?: NodeJS.Signals,
  ): Promise<{ code: number | null; signal: string | null; milliseconds: number }>;
  kill(): void;
}

const LONGEST_START_MS = 60_000;
const LONGEST_STOP_MS = 60_000;

/** @throws with what it said when it ends before it is ready */
export async function startSignet(
  options: readonly string[],
  env: Environment,
  port?: number,
): Promise<StartedProgram> {
  const listenAt = port ?? (await freePort());
  const began = performance.now();
  // No load balancer watches a test's server.
  const settings = { PORT: String(listenAt), SIGNET_DRAIN_SECONDS: "0", ...env };
  const child = startProgram(["start", ...options], settings);
  guardProcess(child);
  const ended = once(child, "close") as Promise<[number | null, string | null]>;
  const output = collect(child);
  const baseUrl = `http://localhost:${listenAt}`;
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`signet start ended: ${output.err()}${output.out()}`);
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status === 200;
  };
  await eventually("the server is ready", isReady, LONGEST_START_MS).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  return {
    pid: child.pid ?? 0,
    port: listenAt,
    baseUrl,
    readyMs: performance.now() - began,
    out: output.out,
    err: output.err,
    logLines: () =>
      output
        .out()
        .split("\n")
        .filter((line) => line.startsWith("{")),
    stop: async (signal = "SIGTERM") => {
      const told = performance.now();
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_STOP_MS);
      const [code, by] = await ended;
      clearTimeout(timer);
      return { code, signal: by, milliseconds: performance.now() - told };
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

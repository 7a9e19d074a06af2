/** The event loop's delay inside a service that the bench started. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const module = fileURLToPath(new URL("loop-delay.mjs", import.meta.url));

export interface LoopDelayProbe {
  readonly file: string;
  /** With which the service has to be started. */
  readonly environment: Readonly<Record<string, string>>;
}

export function loopDelayProbe(folder: string): LoopDelayProbe {
  const file = join(folder, "loop-delay.json");
  return { file, environment: { NODE_OPTIONS: `--import ${module}`, BENCH_LOOP_DELAY_FILE: file } };
}

/** @returns milliseconds under which 99 of 100 delays since the last call stay */
export async function readLoopDelay(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  for (const end = Date.now() + 5_000; Date.now() < end; await pause(10)) {
    try {
      return (JSON.parse(readFileSync(file, "utf8")) as { p99: number }).p99;
    } catch {
      // Not written yet.
    }
  }
  throw new Error("the service does not tell its event loop's delay");
}

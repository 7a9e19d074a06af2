/** The event loop's delay and the heap in use, inside a service that the bench started. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const module = fileURLToPath(new URL("inside-probe.mjs", import.meta.url));

export interface InsideProbe {
  readonly file: string;
  /** With which the service has to be started. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Inside {
  /** Milliseconds under which 99 of 100 delays of the event loop since the last call stay. */
  readonly p99: number;
  /** Bytes in use after a collection. */
  readonly heap: number;
  /** Bytes that V8 holds for what is soon forgotten, and that nothing is in. */
  readonly youngRoom: number;
}

export function insideProbe(folder: string): InsideProbe {
  const file = join(folder, "inside.json");
  return { file, environment: { NODE_OPTIONS: `--import ${module}`, BENCH_PROBE_FILE: file } };
}

export async function readInside(pid: number, file: string): Promise<Inside> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  for (const end = Date.now() + 5_000; Date.now() < end; await pause(10)) {
    try {
      return JSON.parse(readFileSync(file, "utf8")) as Inside;
    } catch {
      // Not written yet.
    }
  }
  throw new Error("the service does not tell its event loop's delay");
}

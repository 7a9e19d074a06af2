/** Runs files by `node --test`, with its own summary at the end, for `npm test` and `npm run interop`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { repositoryRoot } from "../source-files.ts";
import { END_OF_RUN } from "./skipped-tests.ts";

// Many test files wait (browser, database, processes) more than they compute: with three at once two cores are idle a quarter
// of the time.
export const concurrency = Math.min(4, os.availableParallelism() + 2);

/**
 * Megabytes. Tests make much that is soon forgotten: with Node's own size of the part of memory for it a tenth of all
 * processor time goes to moving what is still in use.
 */
const YOUNG_MEMORY_MB = 32;

export interface NodeTestRun {
  readonly files: readonly string[];
  /** Further options of `node --test`. */
  readonly options: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Beyond it a test is stuck: the runner is interrupted, still reports, and names what it was at. */
  readonly timeoutMs: number;
  /** Where the tests that were skipped are listed, a line each, and the end of the run. */
  readonly skippedFile: string;
}

/** @returns the exit code; a run that did not come to its end is a failure, and under CI=true a skipped test */
export async function runNodeTests(run: NodeTestRun): Promise<number> {
  const reporter = path.join(import.meta.dirname, "skipped-tests.ts");
  const parameters = [
    "--test",
    `--test-concurrency=${concurrency}`,
    "--test-timeout=600000",
    // Handed on to the processes of the tests.
    `--max-semi-space-size=${YOUNG_MEMORY_MB}`,
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${run.skippedFile}`,
    ...run.options,
    ...run.files,
  ];
  const child = spawn(process.execPath, parameters, {
    cwd: repositoryRoot,
    env: run.env,
    timeout: run.timeoutMs,
    killSignal: "SIGTERM",
    stdio: "inherit",
  });
  // Ctrl-C goes to the test runner as well: wait for its report, then clean up.
  process.on("SIGINT", () => {});
  const [code] = (await once(child, "exit")) as [number | null];
  return (await reportFails(run.skippedFile)) ? code || 1 : (code ?? 1);
}

async function reportFails(file: string): Promise<boolean> {
  // The runner makes the file with its first event.
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  // Node exits with 0, and says nothing, when the global setup fails.
  if (lines.at(-1) !== END_OF_RUN) {
    console.error("\nThe test run broke off before its end.");
    return true;
  }
  const skipped = lines.slice(0, -1).join("\n");
  if (process.env["CI"] !== "true" || skipped === "") return false;
  console.error(`\nUnder CI every test must run. Skipped or marked as open:\n${skipped}`);
  return true;
}

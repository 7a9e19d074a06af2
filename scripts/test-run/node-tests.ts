/** Runs files by `node --test`, with its own summary at the end, for `npm test` and `npm run interop`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { repositoryRoot } from "../source-files.ts";

// Many test files wait (browser, database, processes) more than they compute: one more at once than there are cores.
const concurrency = Math.min(4, os.availableParallelism() + 1);

export interface NodeTestRun {
  readonly files: readonly string[];
  /** Further options of `node --test`. */
  readonly options: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Beyond it a test is stuck: the runner is interrupted, still reports, and names what it was at. */
  readonly timeoutMs: number;
  /** Where the tests that were skipped are listed, a line each. */
  readonly skippedFile: string;
}

/** @returns the exit code; under CI=true a skipped test is a failure */
export async function runNodeTests(run: NodeTestRun): Promise<number> {
  const reporter = path.join(import.meta.dirname, "skipped-tests.ts");
  const parameters = [
    "--test",
    `--test-concurrency=${concurrency}`,
    "--test-timeout=600000",
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
  return (await skippedFail(run.skippedFile)) ? code || 1 : (code ?? 1);
}

async function skippedFail(skippedFile: string): Promise<boolean> {
  if (process.env["CI"] !== "true") return false;
  const skipped = await readFile(skippedFile, "utf8");
  if (skipped === "") return false;
  console.error(`\nUnder CI every test must run. Skipped or marked as open:\n${skipped}`);
  return true;
}

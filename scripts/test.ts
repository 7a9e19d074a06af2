/**
 * `npm test`: every check, then every test. `npm test -- packages/server/src/core` runs only the tests of a folder, a file or
 * a glob, without the checks; what starts with `-` goes to `node --test`. `npm test -- --changed` runs the tests that uncommitted
 * changes (or the last commit) reach, on SQLite alone; `--changed=main` those that the changes since `main` reach.
 * SIGNET_TEST_DATABASE_URL names a PostgreSQL to use instead of a throw-away one. With CI=true a skipped test is a failure.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { check } from "./check.ts";
import { listFiles, readFiles, repositoryRoot } from "./source-files.ts";
import { changedFiles, testsReached } from "./test-run/changed-tests.ts";
import { concurrency, runNodeTests } from "./test-run/node-tests.ts";
import { makeTestFolder } from "./test-run/test-folder.ts";
import { selectTests } from "./test-run/test-selection.ts";
import { writeWorkers } from "./test-run/test-workers.ts";

/** Four times the duration of all tests. */
const TIMEOUT_MS = 45 * 60_000;

/** Of an interrupted run hundreds are left. */
const MOST_NAMED = 20;

const CHANGED = /^--changed(?:=(.+))?$/;

/** Runs the named tests, or all after all checks, and gives the exit code. */
async function runTests(parameters: string[]): Promise<number> {
  const changed = parameters.find((parameter) => CHANGED.test(parameter));
  const patterns = parameters.filter((parameter) => !parameter.startsWith("-"));
  const options = parameters.filter((parameter) => parameter.startsWith("-") && parameter !== changed);
  const runsAll = patterns.length === 0 && changed === undefined;
  const files = changed === undefined ? await named(patterns) : await reachedBy(changed);
  if (files.length === 0) return noTests(patterns, changed);
  const folder = await makeTestFolder();
  try {
    const env = environmentIn(folder);
    if (changed !== undefined) env["SIGNET_TEST_DATABASES"] ??= "sqlite";
    // Side by side: the compiler, which takes longest of the checks, leaves a core to the other.
    const [isSound] = await Promise.all([!runsAll || check(), fillCompileCache(env)]);
    if (!isSound) return 1;
    const workers = await writeWorkers(files, { root: repositoryRoot, folder, count: concurrency });
    const setup = `--test-global-setup=${path.join(repositoryRoot, "scripts/test-run/test-database.ts")}`;
    const code = await runNodeTests({
      files: workers.files,
      options: [setup, ...options],
      env,
      timeoutMs: TIMEOUT_MS,
      skippedFile: path.join(folder, "skipped"),
    });
    return failsFor(await workers.leftOut()) ? code || 1 : code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const named = async (patterns: string[]) =>
  selectTests(await listFiles(repositoryRoot, [".test.ts"]), patterns);

async function reachedBy(parameter: string): Promise<string[]> {
  const [, reference] = CHANGED.exec(parameter) ?? [];
  const files = testsReached(await readFiles(repositoryRoot, [".ts"]), await changedFiles(reference));
  if (files.length > 0)
    console.log(`The change reaches ${files.length} test files (SQLite only, no journeys).`);
  return files;
}

function noTests(patterns: string[], changed: string | undefined): number {
  if (changed !== undefined) console.log("The change reaches no test.");
  else console.error(`No test file matches ${patterns.join(" ")}`);
  return changed !== undefined ? 0 : 1;
}

function failsFor(leftOut: readonly string[]): boolean {
  const [some, more] = [leftOut.slice(0, MOST_NAMED), leftOut.length - MOST_NAMED];
  if (some.length > 0)
    console.error(`\nNever begun:\n${some.join("\n")}${more > 0 ? `\nand ${more} more` : ""}`);
  return leftOut.length > 0;
}

/**
 * What tests keep for the next run stays where it was. What is compiled once is found by every later process: half of a
 * start is types stripped.
 */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    SIGNET_TEST_KEPT_FOLDER: process.env["SIGNET_TEST_KEPT_FOLDER"] || os.tmpdir(),
    TMPDIR: folder,
    NODE_COMPILE_CACHE: path.join(folder, "compiled"),
  };
}

/** By one process: many at once would each write all of it when they end, and be late for who waits for their end. */
async function fillCompileCache(env: NodeJS.ProcessEnv): Promise<void> {
  const loaded = path.join(repositoryRoot, "packages", "server", "src", "testing", "test-service.ts");
  const child = spawn(process.execPath, ["--import", pathToFileURL(loaded).href, "--eval", ""], {
    stdio: "ignore",
    env,
  });
  await once(child, "exit");
}

process.exitCode = await runTests(process.argv.slice(2));

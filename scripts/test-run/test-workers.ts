/**
 * Which process runs which test files. A process for each file would load and warm up the server some six hundred times, two
 * seconds of processor time each before its first test. So there are as many processes as run at once, and each takes the next
 * file when it is done with one: the last ones end at about the same time, whatever a file takes.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

export interface TestWorkers {
  /** What `node --test` is to run. */
  readonly files: readonly string[];
  /** Test files that none has begun: where all of them have crashed, say. */
  leftOut(): Promise<string[]>;
}

export interface WorkersOptions {
  /** Of the test files. */
  readonly root: string;
  /** New, for what workers say to each other. */
  readonly folder: string;
  /** At most so many. */
  readonly count: number;
  /** How long a worker may go on after the last of its tests. */
  readonly maxAfterTestsMs?: number;
}

const MAX_AFTER_TESTS_MS = 60_000;

/** What takes longest each, first: journeys start browsers and processes of their own, and would keep the others waiting at the end. */
const LONG = ["e2e/", "scripts/", "packages/server/src/invariants/", "packages/server/src/cli/start/"];

/** @param files relative to the root */
export function inOrder(files: readonly string[]): string[] {
  const rank = (file: string) => {
    const found = LONG.findIndex((folder) => file.startsWith(folder));
    return found < 0 ? LONG.length : found;
  };
  return files.toSorted((a, b) => rank(a) - rank(b));
}

/** Writes a test file for each worker: every test file that it runs is a suite, so that its hooks are its own. */
export async function writeWorkers(files: readonly string[], options: WorkersOptions): Promise<TestWorkers> {
  const { root, folder, count, maxAfterTestsMs = MAX_AFTER_TESTS_MS } = options;
  const claims = path.join(folder, "claims");
  await mkdir(claims);
  const queue = inOrder(files).map((file) => [file, pathToFileURL(path.join(root, file)).href]);
  const work = JSON.stringify({ files: queue, claims, maxAfterTestsMs });
  const worker = pathToFileURL(path.join(import.meta.dirname, "claimed-files.ts")).href;
  const text = `import { runClaimedFiles } from ${JSON.stringify(worker)};\nawait runClaimedFiles(${work});\n`;
  const written = Array.from({ length: Math.min(count, files.length) }, async (_, index) => {
    const name = path.join(folder, `worker-${index}.test.mjs`);
    await writeFile(name, text);
    return name;
  });
  return {
    files: await Promise.all(written),
    leftOut: async () => {
      const begun = new Set(await readdir(claims));
      return queue.flatMap(([file = ""], index) => (begun.has(String(index)) ? [] : [file]));
    },
  };
}

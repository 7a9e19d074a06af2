/**
 * Which test files share a process. A process for each would load and warm up the server some four hundred times, 1.3 seconds
 * of processor time each before its first test; a crash or a leak still spoils no more than its own group.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Files of one process. More save little, and the last group to finish keeps the others waiting. Journeys, which start
 * processes and browsers of their own, take ten times as long each.
 */
const MAX_FILES = 24;
const MAX_JOURNEYS = 5;

const isJourney = (file: string): boolean => file.startsWith("e2e/");

/** @param files relative to the root. Journeys come first: they take longest. */
export function groupTests(files: readonly string[]): string[][] {
  const journeys = files.filter(isJourney);
  const others = files.filter((file) => !isJourney(file));
  return [...dealOut(journeys, MAX_JOURNEYS), ...dealOut(others, MAX_FILES)];
}

/** In turn: neighbours take about as long as each other. */
function dealOut(files: readonly string[], max: number): string[][] {
  const count = Math.ceil(files.length / max);
  return Array.from({ length: count }, (_, group) => files.filter((__, index) => index % count === group));
}

/** How long a process may go on after the last of its tests, in milliseconds. */
const MAX_AFTER_TESTS_MS = 60_000;

/**
 * A file that cannot be loaded is a test that fails: of a suite alone the summary would count nothing.
 * What a test leaves open (a server, a timer) would keep the process, and with it the whole run, for ever: no timeout of
 * node:test ends a process whose tests are done. So it ends itself, as a failure that names what is open.
 */
const errorTracking = pathToFileURL(path.join(import.meta.dirname, "error-tracking.ts")).href;

const suites = `import { trackErrorsCheaply } from ${JSON.stringify(errorTracking)};
import { after, describe, test } from "node:test";
trackErrorsCheaply();
let running = files.length;
for (const [file, url] of files)
  describe(file, () => {
    after(() => {
      running -= 1;
      if (running === 0) setTimeout(endForLeftovers, maxAfterTestsMs).unref();
    });
    return import(url).catch((error) => {
      test("can be loaded", () => {
        throw error;
      });
    });
  });
function endForLeftovers() {
  const names = files.map(([file]) => file).join(", ");
  console.error("Still open after all tests of " + names + ": " + process.getActiveResourcesInfo().join(", "));
  process.exit(1);
}
`;

/**
 * Writes a test file for each group into `folder`: every file of it is a suite, so that its hooks are its own.
 * @returns what `node --test` is to run
 */
export async function writeGroups(
  groups: readonly (readonly string[])[],
  {
    root,
    folder,
    maxAfterTestsMs = MAX_AFTER_TESTS_MS,
  }: { readonly root: string; readonly folder: string; readonly maxAfterTestsMs?: number },
): Promise<string[]> {
  const written = groups.map(async (files, index) => {
    // `node --test` runs them in the order of their names.
    const named = files.map((file) => [file, pathToFileURL(path.join(root, file)).href]);
    const name = path.join(folder, `group-${String(index).padStart(3, "0")}.test.mjs`);
    const values = `const files = ${JSON.stringify(named)};\nconst maxAfterTestsMs = ${maxAfterTestsMs};\n`;
    await writeFile(name, `${values}${suites}`);
    return name;
  });
  return Promise.all(written);
}

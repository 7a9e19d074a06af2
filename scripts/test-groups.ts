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
const MOST_FILES = 24;
const MOST_JOURNEYS = 5;

const isJourney = (file: string): boolean => file.startsWith("e2e/");

/** @param files relative to the root. Journeys come first: they take longest. */
export function groupTests(files: readonly string[]): string[][] {
  const journeys = files.filter(isJourney);
  const others = files.filter((file) => !isJourney(file));
  return [...dealOut(journeys, MOST_JOURNEYS), ...dealOut(others, MOST_FILES)];
}

/** In turn: neighbours take about as long as each other. */
function dealOut(files: readonly string[], most: number): string[][] {
  const count = Math.ceil(files.length / most);
  return Array.from({ length: count }, (_, group) => files.filter((__, index) => index % count === group));
}

/**
 * node:test watches every promise, timer and socket of the process, to know in which suite a file declares a test and which
 * test an error comes from that nobody catches: a tenth of what a group computes. All is declared once the first suite
 * begins, so that it ends there. Such an error still fails its group, and is written with its stack; a test that is declared
 * later, by a suite whose function waits, would belong to no suite, and fails.
 */
const endWatching = `const hooks = Object.getPrototypeOf(createHook({}));
const { enable } = hooks;
let watcher;
hooks.enable = function () {
  watcher = this;
  return enable.call(this);
};
beforeEach(({ fullName }) => {
  if (files.some(([file]) => fullName.startsWith(file + " > "))) return;
  throw new Error("Declared after its file was loaded: the function of a suite may not wait, the file may");
});
hooks.enable = enable;
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error) => console.error("Nobody caught", error));
`;

/** How long a process may go on after the last of its tests, in milliseconds. */
const MOST_AFTER_TESTS_MS = 60_000;

/**
 * A file that cannot be loaded is a test that fails: of a suite alone the summary would count nothing.
 * What a test leaves open (a server, a timer) would keep the process, and with it the whole run, for ever: no timeout of
 * node:test ends a process whose tests are done. So it ends itself, as a failure that names what is open.
 */
const suites = `import { createHook } from "node:async_hooks";
import { after, before, beforeEach, describe, test } from "node:test";
${endWatching}let running = files.length;
for (const [file, url] of files)
  describe(file, () => {
    before(() => watcher?.disable());
    after(() => {
      running -= 1;
      if (running === 0) setTimeout(endForLeftovers, mostAfterTestsMs).unref();
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
    mostAfterTestsMs = MOST_AFTER_TESTS_MS,
  }: { readonly root: string; readonly folder: string; readonly mostAfterTestsMs?: number },
): Promise<string[]> {
  const written = groups.map(async (files, index) => {
    // `node --test` runs them in the order of their names.
    const named = files.map((file) => [file, pathToFileURL(path.join(root, file)).href]);
    const name = path.join(folder, `group-${String(index).padStart(3, "0")}.test.mjs`);
    const values = `const files = ${JSON.stringify(named)};\nconst mostAfterTestsMs = ${mostAfterTestsMs};\n`;
    await writeFile(name, `${values}${suites}`);
    return name;
  });
  return Promise.all(written);
}

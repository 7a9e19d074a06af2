/**
 * Which test files share a process. A process for each would load and warm up the server some two hundred times, which took
 * more than a third of the whole run; a crash or a leak still spoils no more than its own group.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Files of one process. More save little, and the last group to finish keeps the others waiting. */
const MOST_FILES = 12;

/** Journeys start processes and browsers of their own, and take their time: each has a process to itself. */
const isAlone = (file: string): boolean => file.startsWith("e2e/");

/** @param files relative to the root */
export function groupTests(files: readonly string[]): string[][] {
  const together = files.filter((file) => !isAlone(file));
  const count = Math.ceil(together.length / MOST_FILES);
  // Dealt out in turn: neighbours take about as long as each other.
  const groups = Array.from({ length: count }, (_, group) =>
    together.filter((__, index) => index % count === group),
  );
  return [...files.filter(isAlone).map((file) => [file]), ...groups];
}

/** A file that cannot be loaded is a test that fails: of a suite alone the summary would count nothing. */
const suites = `import { describe, test } from "node:test";
for (const [file, url] of files)
  describe(file, () =>
    import(url).catch((error) => {
      test("can be loaded", () => {
        throw error;
      });
    }),
  );
`;

/**
 * Writes a test file for each group into `folder`: every file of it is a suite, so that its hooks are its own.
 * @returns what `node --test` is to run
 */
export async function writeGroups(
  groups: readonly (readonly string[])[],
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<string[]> {
  const written = groups.map(async (files, index) => {
    const [only] = files;
    if (files.length === 1 && only !== undefined) return path.join(root, only);
    const named = files.map((file) => [file, pathToFileURL(path.join(root, file)).href]);
    const name = path.join(folder, `group-${index}.test.mjs`);
    await writeFile(name, `const files = ${JSON.stringify(named)};\n${suites}`);
    return name;
  });
  return Promise.all(written);
}

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** One text file of the repository. `path` is relative to the root, with forward slashes. */
export type SourceFile = { path: string; text: string };

export const repositoryRoot: string = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const skippedFolders = new Set(["node_modules", "dist", "data", ".git"]);

/**
 * Paths of all files below the root whose name ends with one of `endings`, sorted, relative to the root.
 * Walks the folders instead of asking git, so that it also sees new files and works in a tree without git.
 */
export async function listFiles(root: string, endings: string[]): Promise<string[]> {
  const found: string[] = [];
  async function walk(folder: string): Promise<void> {
    for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
      const relative = path.posix.join(folder, entry.name);
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) await walk(relative);
      else if (entry.isFile() && endings.some((ending) => entry.name.endsWith(ending))) found.push(relative);
    }
  }
  await walk("");
  return found.sort();
}

/** The files of `listFiles` with their text. */
export async function readFiles(root: string, endings: string[]): Promise<SourceFile[]> {
  const paths = await listFiles(root, endings);
  return Promise.all(
    paths.map(async (file) => ({ path: file, text: await readFile(path.join(root, file), "utf8") })),
  );
}

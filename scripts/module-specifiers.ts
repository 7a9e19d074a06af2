/** What compiled files import. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { listFiles } from "./source-files.ts";

/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`, as the compiler writes them. */
const specifiers = /((?:\bfrom|\bimport)\s*\(?\s*")([^"]+)(")/g;

export const specifiersIn = (text: string): string[] =>
  [...text.matchAll(specifiers)].map(([, , specifier = ""]) => specifier);

/**
 * Changes what the compiled files of a folder import.
 * @param rename gets a specifier and the file that it is in, relative to the folder
 */
export async function renameImports(
  folder: string,
  endings: string[],
  rename: (specifier: string, file: string) => string,
): Promise<void> {
  for (const file of await listFiles(folder, endings)) {
    const text = await readFile(path.join(folder, file), "utf8");
    const renamed = text.replace(
      specifiers,
      (_, before: string, specifier: string, after: string) => before + rename(specifier, file) + after,
    );
    if (renamed !== text) await writeFile(path.join(folder, file), renamed);
  }
}

/** The compiler rewrites `./x.ts` in JavaScript, and leaves it in declarations, where not every tool understands it. */
export const renameToBuilt = (specifier: string): string =>
  specifier.startsWith(".") ? specifier.replace(/\.ts$/, ".js") : specifier;

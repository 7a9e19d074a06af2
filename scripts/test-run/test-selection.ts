import path from "node:path";

/** The test files that one of the patterns names: a file, a folder or a glob, relative to the root. No pattern: all. */
export function selectTests(files: string[], patterns: string[]): string[] {
  if (patterns.length === 0) return files;
  const wanted = patterns.map((pattern) => path.posix.normalize(pattern).replace(/\/$/, ""));
  return files.filter((file) =>
    wanted.some(
      (pattern) =>
        pattern === "." ||
        file === pattern ||
        file.startsWith(`${pattern}/`) ||
        path.posix.matchesGlob(file, pattern),
    ),
  );
}

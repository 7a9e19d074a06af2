/** `npm test -- --changed`: which test files a change reaches, by the import graph. */
import path from "node:path";
import { importsByFile } from "./house-rules/module-imports.ts";
import { runCommand } from "./run-command.ts";
import { repositoryRoot, type SourceFile } from "./source-files.ts";

const isTest = (file: string): boolean => file.endsWith(".test.ts");
const isJourney = (file: string): boolean => file.startsWith("e2e/");

/**
 * Files that differ from `reference`, new ones included. Without a reference: what is not committed yet, or else the last commit.
 * @throws Error when git doesn't know the reference
 */
export async function changedFiles(reference?: string): Promise<string[]> {
  if (reference !== undefined) return [...(await differing(reference)), ...(await untracked())];
  const uncommitted = [...(await differing("HEAD")), ...(await untracked())];
  return uncommitted.length > 0 ? uncommitted : differing("HEAD~1");
}

const differing = (reference: string) => git("diff", "--name-only", reference, "--");
const untracked = () => git("ls-files", "--others", "--exclude-standard");

async function git(...parameters: string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await runCommand("git", parameters, { cwd: repositoryRoot });
  if (exitCode !== 0) throw new Error(`git ${parameters.join(" ")}: ${stderr.trim()}`);
  return stdout.split("\n").filter((file) => file !== "");
}

/**
 * The test files that load a changed file, nearest first. Browser journeys load nearly everything, so that only those changed
 * themselves are chosen. A changed style sheet, script or text counts as a change of the sources that name it.
 */
export function testsReached(files: SourceFile[], changed: readonly string[]): string[] {
  const importers = importersByFile(files);
  const reached = new Set(changed.flatMap((file) => [file, ...sourcesNaming(file, files)]));
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  const known = new Set(files.map((file) => file.path));
  const direct = new Set(changed);
  return [...reached].filter(
    (file) => isTest(file) && known.has(file) && (!isJourney(file) || direct.has(file)),
  );
}

function importersByFile(files: SourceFile[]): ReadonlyMap<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, imports] of importsByFile(files))
    for (const { target } of imports)
      if (target !== undefined) importers.set(target, [...(importers.get(target) ?? []), file]);
  return importers;
}

function sourcesNaming(asset: string, files: SourceFile[]): string[] {
  if (asset.endsWith(".ts") || !asset.startsWith("packages/")) return [];
  const name = path.posix.basename(asset);
  return files.filter(({ text }) => text.includes(name)).map((file) => file.path);
}

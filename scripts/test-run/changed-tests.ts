/** `npm test -- --changed`: which test files a change reaches, by the import graph. */
import path from "node:path";
import { importsByFile } from "../house-rules/source/module-imports.ts";
import { runCommand } from "../run-command.ts";
import { repositoryRoot, type SourceFile } from "../source-files.ts";

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
 * The test files of what a change reaches, nearest first: those that import it, and beside code that does those that load the
 * whole service, as most tests of routes do. Journeys only when they changed themselves. A changed style sheet, script or text
 * counts as a change of the sources that name it.
 */
export function testsReached(files: SourceFile[], changed: readonly string[]): string[] {
  const importers = importersByFile(files);
  const sources = changed.flatMap((file) => [file, ...sourcesNaming(file, files)]);
  const serviceReached = sources.some(isWholeService);
  const reached = filesReached(sources, importers, (file) => serviceReached || !isWholeService(file));
  const code = [...reached].filter((file) => !isTest(file) && !isWholeService(file));
  const folders = new Set(code.map(folderOf));
  const ofService = filesReached(files.map(({ path }) => path).filter(isWholeService), importers);
  const beside = [...ofService].filter((file) => folders.has(folderOf(file)));
  const known = new Set(files.map(({ path }) => path));
  return [...reached.union(new Set(beside))].filter(
    (file) => isTest(file) && known.has(file) && (!isJourney(file) || sources.includes(file)),
  );
}

/** What puts all features together, so that everything is reached from anything in it. */
const isWholeService = (file: string): boolean =>
  file === "packages/server/src/app.ts" || file.startsWith("packages/server/src/testing/");
const folderOf = (file: string): string => path.posix.dirname(file);

function filesReached(
  sources: readonly string[],
  importers: ReadonlyMap<string, string[]>,
  passes: (file: string) => boolean = () => true,
): Set<string> {
  const reached = new Set(sources);
  for (const file of reached)
    if (passes(file)) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return reached;
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

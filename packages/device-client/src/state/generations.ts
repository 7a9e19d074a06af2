/**
 * A key and its certificate belong together, and a renewal may bring a new key: each pair has a folder of its own,
 * `generations/1`, `generations/2`, and the link `current` is turned from one to the next in one step.
 */
import { mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { syncFolder, undefinedWhenMissing } from "./private-file.ts";

const GENERATIONS = "generations";
const CURRENT = "current";
/** Not finished: a crash left it. */
const UNFINISHED = ".new";

/** @returns the folder in use; undefined before the first certificate */
export async function currentGeneration(state: string): Promise<string | undefined> {
  const target = await readlink(path.join(state, CURRENT)).catch(undefinedWhenMissing);
  return target === undefined ? undefined : path.join(state, target);
}

/** A folder with a key and a request that has no certificate yet, or whose certificate is not in use yet. */
export async function pendingGeneration(state: string): Promise<string | undefined> {
  const current = numberOf(await currentGeneration(state));
  const last = Math.max(0, ...(await numbers(state)));
  return last > current ? folderOf(state, last) : undefined;
}

/** @param fill makes the files, in a folder that becomes a generation only when all of them are there. @returns the folder */
export async function newGeneration(state: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = folderOf(state, Math.max(0, ...(await numbers(state))) + 1);
  const unfinished = `${folder}${UNFINISHED}`;
  await mkdir(path.join(state, GENERATIONS), { recursive: true, mode: 0o700 });
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await fill(unfinished);
  await syncFolder(unfinished);
  await rename(unfinished, folder);
  await syncFolder(path.dirname(folder));
  return folder;
}

/** From now on this one is used. The one before stays: whoever has just opened it goes on, and an operator can look back. */
export async function useGeneration(state: string, folder: string): Promise<void> {
  const before = numberOf(await currentGeneration(state));
  const beside = path.join(state, `${CURRENT}.new`);
  await rm(beside, { force: true });
  await symlink(path.relative(state, folder), beside);
  await rename(beside, path.join(state, CURRENT));
  await syncFolder(state);
  for (const number of await numbers(state))
    if (number < before) await rm(folderOf(state, number), { recursive: true, force: true });
}

export async function discardGeneration(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await syncFolder(path.dirname(folder));
}

const folderOf = (state: string, number: number): string => path.join(state, GENERATIONS, String(number));

const numberOf = (folder: string | undefined): number =>
  folder === undefined ? 0 : Number(path.basename(folder));

async function numbers(state: string): Promise<number[]> {
  const entries = (await readdir(path.join(state, GENERATIONS)).catch(undefinedWhenMissing)) ?? [];
  return entries.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
}

/**
 * Each pair of key and certificate has a folder, `generations/1`, `generations/2` and so on; the symbolic link `current` is
 * switched from one to the next atomically.
 */
import { mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { syncFolder, undefinedIfMissing } from "@signet/cli-runtime/private-file";

const GENERATIONS = "generations";
const CURRENT = "current";
/** Suffix of a folder that is not complete, or that a crash left behind. */
const UNFINISHED = ".new";

/** @returns the folder in use; undefined before the first certificate */
export async function currentGeneration(state: string): Promise<string | undefined> {
  const target = await readlink(path.join(state, CURRENT)).catch(undefinedIfMissing);
  return target === undefined ? undefined : path.join(state, target);
}

/** A generation whose certificate has not been issued or put to use yet. */
export async function pendingGeneration(state: string): Promise<string | undefined> {
  const current = numberOf(await currentGeneration(state));
  const last = Math.max(0, ...(await listGenerations(state)));
  return last > current ? folderOf(state, last) : undefined;
}

/** @param fill creates the files; the folder becomes a generation only when they are complete. @returns the folder */
export async function newGeneration(state: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = folderOf(state, Math.max(0, ...(await listGenerations(state))) + 1);
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

/** Switches to this generation. The previous one stays, for programs that have just opened it. */
export async function useGeneration(state: string, folder: string): Promise<void> {
  const previous = numberOf(await currentGeneration(state));
  const temporary = path.join(state, `${CURRENT}.new`);
  await rm(temporary, { force: true });
  await symlink(path.relative(state, folder), temporary);
  await rename(temporary, path.join(state, CURRENT));
  await syncFolder(state);
  for (const number of await listGenerations(state))
    if (number < previous) await rm(folderOf(state, number), { recursive: true, force: true });
}

export async function discardGeneration(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await syncFolder(path.dirname(folder));
}

const folderOf = (state: string, number: number): string => path.join(state, GENERATIONS, String(number));

const numberOf = (folder: string | undefined): number =>
  folder === undefined ? 0 : Number(path.basename(folder));

async function listGenerations(state: string): Promise<number[]> {
  const entries = (await readdir(path.join(state, GENERATIONS)).catch(undefinedIfMissing)) ?? [];
  return entries.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
}

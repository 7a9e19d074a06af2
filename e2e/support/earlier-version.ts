/**
 * The version before: the sources as they were before the newest change of the schema, with today's libraries. A release that has
 * this schema meets that one in a rolling upgrade.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readlink, symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../../scripts/source-files.ts";

const MIGRATIONS = "packages/server/src/db/migrations/0*";

const git = async (...parameters: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)("git", parameters, { cwd: repositoryRoot });
  return stdout.trim();
};

/** @returns a commit; undefined in a clone without that history */
export async function commitBeforeNewestSchema(): Promise<string | undefined> {
  try {
    const added = await git("log", "-1", "--diff-filter=A", "--format=%H", "--", MIGRATIONS);
    return added === "" ? undefined : await git("rev-parse", "--verify", "--quiet", `${added}^`);
  } catch {
    return undefined;
  }
}

/** Unpacks the commit into an empty folder. @returns its program, for `startServer` */
export async function unpackVersion(commit: string, folder: string): Promise<string> {
  const archive = spawn("git", ["archive", "--format=tar", commit], {
    cwd: repositoryRoot,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const unpack = spawn("tar", ["-x", "-C", folder], { stdio: [archive.stdout, "ignore", "inherit"] });
  const codes = await Promise.all([archive, unpack].map((child) => once(child, "exit")));
  if (codes.some(([code]) => code !== 0)) throw new Error(`${commit} was not unpacked`);
  await linkLibraries(".", folder);
  for (const name of await readdir(path.join(folder, "packages")))
    await linkLibraries(path.join("packages", name), folder);
  return path.join(folder, "scripts", "signet.mjs");
}

/** Today's libraries; packages of our own are that version's. */
async function linkLibraries(workspace: string, folder: string): Promise<void> {
  const from = path.join(repositoryRoot, workspace, "node_modules");
  const to = path.join(folder, workspace, "node_modules");
  const names = await readdir(from).catch(() => []);
  if (names.length > 0) await mkdir(to, { recursive: true });
  for (const name of names) {
    if (name === "@signet") await linkOwn(path.join(from, name), path.join(to, name));
    else if (name !== ".cache") await symlink(path.join(from, name), path.join(to, name));
  }
}

/** Their addresses are relative: the same ones lead to that version's packages. */
async function linkOwn(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const name of await readdir(from))
    await symlink(await readlink(path.join(from, name)), path.join(to, name));
}

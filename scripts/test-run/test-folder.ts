/**
 * Where a test run keeps its databases and other temporary files: in memory where the system offers that. A copy of a
 * PostgreSQL database is nearly six hundred small files, made and removed hundreds of times; to find room for them was
 * most of what a run asked of the system on a disk.
 */
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, rm, statfs, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const IN_MEMORY = "/dev/shm";
/** The test of the packages alone takes 150 MB, and others run beside it; containers often have 64 MB, which would not do. */
const MIN_BYTES = 4 * 2 ** 30;
const PREFIX = "signet-test-";

/** Like /tmp, but that nobody else may list it: PostgreSQL runs under another user, and its guard removes its folder. */
const OPEN_TO_ALL = 0o1733;

/** @returns a new empty folder, which the caller removes */
export async function makeTestFolder(memory = IN_MEMORY): Promise<string> {
  const parent = (await isOffered(memory)) ? memory : os.tmpdir();
  await removeLeftBehind(parent);
  const folder = await mkdtemp(path.join(parent, `${PREFIX}${process.pid}-`));
  await chmod(folder, OPEN_TO_ALL);
  return folder;
}

/** Whoever names a folder for temporary files means it. */
async function isOffered(memory: string): Promise<boolean> {
  if (process.env["TMPDIR"] || process.availableMemory() < 2 * MIN_BYTES) return false;
  try {
    const { bavail, bsize } = await statfs(memory);
    return bavail * bsize >= MIN_BYTES && (await runsPrograms(memory));
  } catch {
    return false;
  }
}

/** Tests start programs that they have installed; some systems forbid that there. */
async function runsPrograms(memory: string): Promise<boolean> {
  const folder = await mkdtemp(path.join(memory, "signet-try-"));
  try {
    const program = path.join(folder, "program");
    await writeFile(program, "#!/bin/sh\n", { mode: 0o700 });
    await promisify(execFile)(program);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Of runs that were killed: in memory nothing else would remove it before the next start of the machine. */
async function removeLeftBehind(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = /^signet-test-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be asked, but is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

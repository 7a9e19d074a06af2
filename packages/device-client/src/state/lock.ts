/**
 * One process at a time changes a state folder: two renewals at once would each take the other's certificate for lost.
 *
 * Who wants it puts a file of its own there, whose name tells the process, and only then looks for others: of two at least the
 * later one sees the other. Nobody ever removes a name that a living process has, so that two who find what a killed one left
 * cannot take the folder from each other.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export class StateBusy extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StateBusy";
  }
}

// Where the system does not tell when a process began: in a container the one before often had the same number.
const heldHere = new Set<string>();

/** @throws StateBusy while another process works with the folder; what a killed one left is taken over */
export async function withLock<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const file = path.join(folder, nameOf(process.pid, await birthOf(process.pid)));
  if (heldHere.has(file)) throw busy(folder, file);
  heldHere.add(file);
  try {
    await enter(folder, file);
    return await work();
  } finally {
    await rm(file, { force: true });
    heldHere.delete(file);
  }
}

const TRIES = 5;
const LONGEST_PAUSE_MS = 40;

/** Two that come at the same moment see each other: both step back, and come again at different moments. */
async function enter(folder: string, file: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await writeFile(file, "", { mode: 0o600 });
    const other = await otherIn(folder, path.basename(file));
    if (other === undefined) return;
    if (tries === TRIES) throw busy(folder, path.join(folder, other));
    await rm(file, { force: true });
    await pause(Math.random() * LONGEST_PAUSE_MS * tries);
  }
}

const busy = (folder: string, file: string) =>
  new StateBusy(`another process works with ${folder}, see ${file}`);

const NAME = /^lock\.(\d+)(?:\.([0-9a-f-]+\.\d+))?$/;
const nameOf = (pid: number, birth: string | undefined): string =>
  birth === undefined ? `lock.${pid}` : `lock.${pid}.${birth}`;

/** @returns the name of a living process's file; those of the dead go */
async function otherIn(folder: string, own: string): Promise<string | undefined> {
  for (const name of await readdir(folder)) {
    const [, pid, birth] = NAME.exec(name) ?? [];
    if (pid === undefined || name === own) continue;
    if (await isAlive(Number(pid), birth)) return name;
    await rm(path.join(folder, name), { force: true });
  }
  return undefined;
}

async function isAlive(pid: number, birth: string | undefined): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  // After a restart of the machine the number is soon another program's.
  if (birth !== undefined) return (await birthOf(pid)) === birth;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Tells a process from all others that ever had its number: when it began, and in which run of the machine. Linux only. */
async function birthOf(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // proc_pid_stat(5): the second field is a name in brackets that may hold anything; the 22nd is the start.
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return start === undefined ? undefined : `${boot}.${start}`;
  } catch {
    return undefined;
  }
}

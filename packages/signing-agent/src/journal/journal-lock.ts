/** One agent, one journal: two that write the same one would break its chain. */
import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";

export class BrokenJournal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BrokenJournal";
  }
}

// Where the system does not tell when a process began: in a container the agent before often had the same number.
const heldHere = new Set<string>();

/**
 * @returns what lets go of it again
 * @throws BrokenJournal while another agent runs with it; what a killed one left is taken over
 */
export async function lockJournal(journal: string): Promise<() => Promise<void>> {
  const path = `${journal}.lock`;
  if (!(await makeLock(path))) {
    const text = await readFile(path, "utf8").catch(() => undefined);
    const [pid = "", birth] = text?.split(" ") ?? [];
    const holder = Number(pid);
    if (await isAlive(holder, birth, path))
      throw new BrokenJournal(`${journal} is written by process ${holder}, see ${path}`);
    // What is not there was let go of just now: by its name another agent's lock would be removed.
    if (text !== undefined) await rm(path, { force: true });
    if (!(await makeLock(path))) throw new BrokenJournal(`${journal} is taken by another agent, see ${path}`);
  }
  heldHere.add(path);
  return async () => {
    heldHere.delete(path);
    await rm(path, { force: true });
  };
}

/** Written beside it and linked into its place: a lock that names nobody yet would be taken for a dead one's. */
async function makeLock(path: string): Promise<boolean> {
  const beside = `${path}.${randomBytes(6).toString("hex")}.new`;
  const birth = await birthOf(process.pid);
  const holder = birth === undefined ? String(process.pid) : `${process.pid} ${birth}`;
  try {
    await writeFile(beside, holder, { flag: "wx", mode: 0o600 });
    await link(beside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

async function isAlive(pid: number, birth: string | undefined, path: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  // After a restart of the machine the number is soon another program's.
  if (birth !== undefined) return (await birthOf(pid)) === birth;
  if (pid === process.pid) return heldHere.has(path);
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
    return start === undefined ? undefined : `${boot}/${start}`;
  } catch {
    return undefined;
  }
}

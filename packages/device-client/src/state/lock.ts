/** One process at a time changes a state folder: two renewals at once would each take the other's certificate for lost. */
import { open, readFile, rm } from "node:fs/promises";
import path from "node:path";

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
  const file = path.join(folder, "lock");
  if (!(await makeLock(file))) {
    const [pid = "", birth] = (await readFile(file, "utf8").catch(() => "")).split(" ");
    if (await isAlive(Number(pid), birth, file))
      throw new StateBusy(`process ${pid} works with ${folder}, see ${file}`);
    await rm(file, { force: true });
    if (!(await makeLock(file))) throw new StateBusy(`another process works with ${folder}, see ${file}`);
  }
  heldHere.add(file);
  try {
    return await work();
  } finally {
    heldHere.delete(file);
    await rm(file, { force: true });
  }
}

async function makeLock(file: string): Promise<boolean> {
  try {
    const opened = await open(file, "wx", 0o600);
    const birth = await birthOf(process.pid);
    await opened.writeFile(birth === undefined ? String(process.pid) : `${process.pid} ${birth}`);
    await opened.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isAlive(pid: number, birth: string | undefined, file: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  // After a restart of the machine the number is soon another program's.
  if (birth !== undefined) return pid === process.pid ? heldHere.has(file) : (await birthOf(pid)) === birth;
  if (pid === process.pid) return heldHere.has(file);
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

/** One agent, one journal: two that write the same one would break its chain. */
import { open, readFile, rm } from "node:fs/promises";

export class BrokenJournal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BrokenJournal";
  }
}

// In a container the agent before this one often had the same process number.
const heldHere = new Set<string>();

/**
 * @returns what lets go of it again
 * @throws BrokenJournal while another agent runs with it; what a killed one left is taken over
 */
export async function lockJournal(journal: string): Promise<() => Promise<void>> {
  const path = `${journal}.lock`;
  if (!(await makeLock(path))) {
    const holder = Number(await readFile(path, "utf8").catch(() => ""));
    if (isAlive(holder, path))
      throw new BrokenJournal(`${journal} is written by process ${holder}, see ${path}`);
    await rm(path, { force: true });
    if (!(await makeLock(path))) throw new BrokenJournal(`${journal} is taken by another agent, see ${path}`);
  }
  heldHere.add(path);
  return async () => {
    heldHere.delete(path);
    await rm(path, { force: true });
  };
}

async function makeLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function isAlive(pid: number, path: string): boolean {
  if (pid === process.pid) return heldHere.has(path);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

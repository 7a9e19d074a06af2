/**
 * One serving process for a SQLite file: a second one would not hear of the first one's changes, and would wait for its
 * locks. An exclusive transaction on an empty file beside it, which the operating system ends with the process.
 */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export class AlreadyServed extends Error {
  constructor(path: string) {
    super(
      `another signet start already serves ${path}: SQLite serves one process. Stop that one, or use PostgreSQL for several`,
    );
    this.name = "AlreadyServed";
  }
}

/** A connection that nobody refers to is garbage-collected, and its lock with it. */
const held = new Set<DatabaseSync>();

const SQLITE_BUSY = 5;

/** @returns the release. @throws AlreadyServed while another process serves the file */
export function lockForServing(path: string): () => void {
  if (path === ":memory:") return () => {};
  const file = `${path}.lock`;
  createIfMissing(file);
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec("begin exclusive");
  } catch (error) {
    lock.close();
    const isBusy = error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
    throw isBusy ? new AlreadyServed(path) : error;
  }
  held.add(lock);
  return () => {
    held.delete(lock);
    lock.close();
  };
}

/** Never opens a file that exists: closing it would release this process's own lock on it (fcntl(2)). */
function createIfMissing(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

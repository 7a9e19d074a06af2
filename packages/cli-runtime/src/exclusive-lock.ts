/**
 * One process at a time. The lock is an exclusive transaction of SQLite on an empty file: the operating system releases it
 * when the process ends, however it ends, so nothing is ever stale and nobody removes anybody's lock.
 */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export class Locked extends Error {
  override name = "Locked";
}

/** A connection that nobody refers to is garbage-collected, and its lock with it. */
const openLocks = new Set<DatabaseSync>();

/** @returns the release. @throws Locked while another process, or another part of this one, has the lock */
export function acquireLock(file: string): () => void {
  createIfMissing(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new Locked(`${file} is locked by another process`, { cause: error });
    throw error;
  }
  openLocks.add(database);
  return () => {
    openLocks.delete(database);
    database.close();
  };
}

export async function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const release = acquireLock(file);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Never opens a file that exists: closing it would release this process's own lock on it (fcntl(2)). */
function createIfMissing(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

const SQLITE_BUSY = 5;
const isBusy = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;

/**
 * Syncs commits to disk without blocking the process. SQLite's `synchronous = full` calls fdatasync inside the commit
 * on the main thread; here commits only hand pages to the system, and the thread pool syncs the write-ahead log
 * before anyone is answered. Order and guarantee are the same: in WAL mode, `full` adds just this sync to `normal`
 * (sqlite.org/pragma.html#pragma_synchronous).
 */
import fs from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Resolves when everything committed before the call is on disk. */
export type DiskSync = () => Promise<void>;

export interface LogSync {
  readonly sync: DiskSync;
  /** Call when no sync is running. */
  close(): void;
}

const syncedBySqlite: LogSync = { sync: async () => {}, close: () => {} };

/** Takes over syncing from SQLite; without a write-ahead log, SQLite keeps doing it. */
export function takeOverSync(file: DatabaseSync): LogSync {
  const path = file.location();
  if (path === null || file.prepare("pragma journal_mode").get()?.["journal_mode"] !== "wal")
    return syncedBySqlite;
  file.exec("pragma synchronous = normal");
  // SQLite keeps the log file while a connection is open, and overwrites it from the start.
  let log: number | undefined;
  const sync = () =>
    new Promise<void>((resolve, reject) => {
      log ??= fs.openSync(`${path}-wal`, "r+");
      fs.fdatasync(log, (error) => (error ? reject(error) : resolve()));
    });
  return {
    sync: shared(sync),
    close: () => {
      if (log !== undefined) fs.closeSync(log);
      log = undefined;
    },
  };
}

/** Calls during a sync share the next one: the running one may have begun before their commit. */
export function shared(sync: DiskSync): DiskSync {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    const one = sync().finally(() => {
      if (running === one) running = undefined;
    });
    running = one;
    return one;
  };
  return () => {
    if (!running) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}

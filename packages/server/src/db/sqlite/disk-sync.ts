/**
 * Waiting for the disk without stopping the process. SQLite's own `synchronous = full` calls fdatasync inside the commit,
 * on the main thread; here a commit only hands its pages to the system, and the write-ahead log is synced by a thread of
 * the pool before anybody is told. The order and the guarantee are the same: what SQLite adds at `full` over `normal` in
 * WAL mode is this one sync of the log after a commit (sqlite.org/pragma.html#pragma_synchronous).
 */
import fs from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Resolves when all that was committed before the call is on the disk. */
export type DiskSync = () => Promise<void>;

export interface LogSync {
  readonly sync: DiskSync;
  /** When no sync is under way any more. */
  close(): void;
}

const syncedBySqlite: LogSync = { sync: async () => {}, close: () => {} };

/** Takes the syncing over from SQLite. Where there is no write-ahead log, SQLite goes on doing it itself. */
export function takeOverSync(file: DatabaseSync): LogSync {
  const path = file.location();
  if (path === null || file.prepare("pragma journal_mode").get()?.["journal_mode"] !== "wal")
    return syncedBySqlite;
  file.exec("pragma synchronous = normal");
  // SQLite keeps the log's file as long as a connection is open, and writes it anew from its beginning.
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

/** Calls that come while a sync is under way share the next one: the one under way may have begun before their commit. */
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

/**
 * Group commit. A commit and its sync cost the same for one write or many, so concurrent transactions share one: each
 * runs in a savepoint of an outer transaction, and is acknowledged once that is on disk. The sync runs outside
 * (disk-sync.ts), while the next group fills. Nothing is revealed before it is durable: reads during an open or
 * syncing group wait for it too, because they may have seen it. The exception are statements that say so themselves
 * (unsynced.ts): they wait for the commit alone, and a group of nothing else is not synced.
 */
import type { DatabaseSync } from "node:sqlite";
import type { DiskSync } from "./disk-sync.ts";

export interface GroupCommit {
  /** Runs one statement outside a transaction; resolves when it, and everything it may have seen, is durable. */
  statement<T>(kind: StatementKind, run: () => T): Promise<T>;
  /** Until `commit` or `rollback` the connection belongs to one transaction; others wait. */
  begin(): void;
  insideTransaction<T>(run: () => T): T;
  /** Ends the transaction immediately. @returns its durability; the next transaction may begin before */
  commit(): Promise<void>;
  rollback(): void;
  /** Resolves when everything is on disk and the file is closed. */
  close(): Promise<void>;
}

/** `unsynced`: a write that is visible after its commit, and on disk with the next write that is synced. */
export type StatementKind = "read" | "write" | "unsynced";

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** Who waits for a group: for the disk, or for its commit alone. */
function groupWaiters() {
  let lists = { durable: [] as Waiter[], committed: [] as Waiter[] };
  const add = (list: Waiter[]) => new Promise<void>((resolve, reject) => list.push({ resolve, reject }));
  const takeAll = () => {
    const all = lists;
    lists = { durable: [], committed: [] };
    return all;
  };
  return {
    durable: () => add(lists.durable),
    committed: () => add(lists.committed),
    acknowledge: (synced: Promise<void>): void => {
      const { durable, committed } = takeAll();
      for (const { resolve, reject } of durable) synced.then(resolve, reject);
      for (const { resolve } of committed) resolve();
      // Without a waiter its failure is kept by the disk writer, which refuses what comes next.
      synced.catch(() => {});
    },
    reject: (error: unknown): void => {
      const { durable, committed } = takeAll();
      for (const { reject } of [...durable, ...committed]) reject(error);
    },
  };
}

/** Limits the wait of the first transaction in a group. */
const MAX_GROUP_SIZE = 64;

/** @param sync resolves when everything committed is on disk; after one failure nothing is written any more */
export function groupCommit(file: DatabaseSync, sync: DiskSync): GroupCommit {
  const group = newGroup(file, sync);
  const savepoint = file.prepare("savepoint one");
  const release = file.prepare("release one");
  let inTransaction = false;
  const writeIfDue = () => {
    if (group.isDue() && !inTransaction) group.write();
  };
  const join = (isSynced = true) => group.join(writeIfDue, isSynced);
  // A group can fail during a transaction: its later statements would be kept without the earlier ones.
  const requireOpen = () => {
    if (!group.isOpen()) throw new Error("the transaction failed with its group");
  };
  const rollback = () => {
    inTransaction = false;
    if (!group.isOpen()) return;
    file.exec("rollback to one");
    release.run();
    writeIfDue();
  };

  return {
    statement: async (kind, run) => {
      if (kind !== "read") join(kind === "write");
      const result = group.checked(run);
      const done = kind === "unsynced" ? group.committed() : group.durable();
      writeIfDue();
      await done;
      return result;
    },
    begin: () => {
      join();
      savepoint.run();
      inTransaction = true;
    },
    insideTransaction: (run) => {
      requireOpen();
      return group.checked(run);
    },
    commit: () => {
      requireOpen();
      group.checked(() => release.run());
      inTransaction = false;
      const durable = group.durable();
      writeIfDue();
      return durable;
    },
    rollback,
    close: async () => {
      // Otherwise the commit would include an unfinished transaction.
      if (inTransaction) rollback();
      group.write();
      await group.durable().catch(() => {});
      file.close();
    },
  };
}

interface Group {
  isOpen(): boolean;
  /** Its turn of the event loop is over, or it is full. */
  isDue(): boolean;
  /** Adds a member; the first opens the group. @param whenDue called in the next turn of the event loop */
  join(whenDue: () => void, isSynced: boolean): void;
  /** Runs a statement in the group. */
  checked<T>(run: () => T): T;
  durable(): Promise<void>;
  /** Resolves with the commit, before the sync. */
  committed(): Promise<void>;
  write(): void;
}

function newGroup(file: DatabaseSync, sync: DiskSync): Group {
  const disk = diskWriter(sync);
  const begin = file.prepare("begin immediate");
  const commit = file.prepare("commit");
  const waiters = groupWaiters();
  let timer: NodeJS.Immediate | undefined;
  let isOpen = false;
  let isOver = false;
  let needsSync = false;
  let members = 0;

  const close = () => {
    clearImmediate(timer);
    isOpen = false;
    return waiters;
  };

  return {
    isOpen: () => isOpen,
    isDue: () => isOpen && (isOver || members >= MAX_GROUP_SIZE),
    join: (whenDue, isSynced) => {
      disk.requireWorking();
      members++;
      needsSync = isSynced || (isOpen && needsSync);
      if (isOpen) return;
      // IMMEDIATE takes the write lock, so that no transaction fails half-way because of another process.
      begin.run();
      isOpen = true;
      isOver = false;
      members = 1;
      timer = setImmediate(() => {
        isOver = true;
        whenDue();
      });
    },
    checked: (run) => {
      try {
        return run();
      } catch (error) {
        // Some errors (disk full, I/O) end SQLite's transaction: the whole group fails.
        if (isOpen && !file.isTransaction) close().reject(error);
        throw error;
      }
    },
    durable: () => (isOpen ? waiters.durable() : disk.settled()),
    committed: () => (isOpen ? waiters.committed() : Promise.resolve()),
    write: () => {
      if (!isOpen) return;
      try {
        commit.run();
        const synced = needsSync ? disk.send() : disk.settled();
        close().acknowledge(synced);
      } catch (error) {
        try {
          if (file.isTransaction) file.exec("rollback");
        } finally {
          close().reject(error);
        }
      }
    },
  };
}

interface Disk {
  /** Syncs everything committed so far. */
  send(): Promise<void>;
  /** Resolves when no sync is running. */
  settled(): Promise<void>;
  requireWorking(): void;
}

/**
 * After a failed sync it is unknown which pages are on disk, and a later success doesn't change that: all writes fail
 * until the process restarts and SQLite recovers its log.
 */
function diskWriter(sync: DiskSync): Disk {
  let running: Promise<void> | undefined;
  let failure: { readonly cause: unknown } | undefined;
  const requireWorking = () => {
    if (failure) throw new Error("writing to disk has failed: restart Signet", failure);
  };
  const send = (): Promise<void> => {
    const sent = sync().then(requireWorking, (cause: unknown) => {
      failure ??= { cause };
      throw cause;
    });
    running = sent;
    const forget = () => {
      if (running === sent) running = undefined;
    };
    sent.then(forget, forget);
    return sent;
  };
  return {
    send,
    settled: async () => {
      requireWorking();
      await running;
    },
    requireWorking,
  };
}

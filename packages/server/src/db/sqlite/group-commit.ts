/**
 * Group commit. A commit and its sync cost the same for one write or many, so concurrent transactions share one: each
 * runs in a savepoint of an outer transaction, and is acknowledged once that is on disk. The sync runs outside
 * (disk-sync.ts), while the next group fills. Nothing is revealed before it is durable: reads during an open or
 * syncing group wait for it too, because they may have seen it.
 */
import type { DatabaseSync } from "node:sqlite";
import type { DiskSync } from "./disk-sync.ts";

export interface GroupCommit {
  /** Runs one statement outside a transaction; resolves when it, and everything it may have seen, is durable. */
  statement<T>(isWrite: boolean, run: () => T): Promise<T>;
  /** Until `commit` or `rollback` the connection belongs to one transaction; others wait. */
  begin(): void;
  insideTransaction<T>(run: () => T): T;
  /** Ends the transaction immediately. @returns its durability; the next transaction may begin before */
  commit(): Promise<void>;
  rollback(): void;
  /** Resolves when everything is on disk and the file is closed. */
  close(): Promise<void>;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
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
  const join = () => group.join(writeIfDue);
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
    statement: async (isWrite, run) => {
      if (isWrite) join();
      const result = group.checked(run);
      const durable = group.durable();
      writeIfDue();
      await durable;
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
  join(whenDue: () => void): void;
  /** Runs a statement in the group. */
  checked<T>(run: () => T): T;
  durable(): Promise<void>;
  write(): void;
}

function newGroup(file: DatabaseSync, sync: DiskSync): Group {
  const disk = diskWriter(sync);
  const begin = file.prepare("begin immediate");
  const commit = file.prepare("commit");
  let waiters: Waiter[] = [];
  let timer: NodeJS.Immediate | undefined;
  let isOpen = false;
  let isOver = false;
  let members = 0;

  const settle = (tell: (waiter: Waiter) => void) => {
    clearImmediate(timer);
    isOpen = false;
    const settled = waiters;
    waiters = [];
    settled.forEach(tell);
  };
  const fail = (error: unknown) => settle(({ reject }) => reject(error));

  return {
    isOpen: () => isOpen,
    isDue: () => isOpen && (isOver || members >= MAX_GROUP_SIZE),
    join: (whenDue) => {
      disk.requireWorking();
      members++;
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
        if (isOpen && !file.isTransaction) fail(error);
        throw error;
      }
    },
    durable: () =>
      isOpen ? new Promise((resolve, reject) => waiters.push({ resolve, reject })) : disk.settled(),
    write: () => {
      if (!isOpen) return;
      try {
        commit.run();
        const synced = disk.send();
        settle(({ resolve, reject }) => void synced.then(resolve, reject));
      } catch (error) {
        try {
          if (file.isTransaction) file.exec("rollback");
        } finally {
          fail(error);
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

/**
 * Durable writes in groups. A commit waits for the disk, and SQLite's calls block the whole process meanwhile: one wait
 * per request would be the limit of the service. So transactions that come together share one: each runs in a savepoint
 * of an outer transaction, and is acknowledged when that one is on the disk.
 *
 * Nothing is told before it is durable: a read that comes while a group is open waits for its commit too, because it
 * may have seen what is not on the disk yet.
 */
import type { DatabaseSync } from "node:sqlite";

export interface GroupCommit {
  /** Runs one statement outside a transaction; resolves when its effect, and all that it may have seen, is durable. */
  statement<T>(isWrite: boolean, run: () => T): Promise<T>;
  /** From here to `commit` or `rollback` the connection is one transaction's: others wait for their turn. */
  begin(): void;
  insideTransaction<T>(run: () => T): T;
  /** Ends the transaction at once. @returns a promise of its durability: the next one may begin before it */
  commit(): Promise<void>;
  rollback(): void;
  close(): void;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** A group is written at the latest after so many transactions, so that an answer never waits for a long queue. */
const LARGEST_GROUP = 64;

export function groupCommit(file: DatabaseSync): GroupCommit {
  const group = newGroup(file);
  let inTransaction = false;
  const writeIfDue = () => {
    if (group.isDue() && !inTransaction) group.write();
  };
  const join = () => group.join(writeIfDue);
  // A group can be lost under a transaction: what came after would be kept without what came before.
  const requireOpen = () => {
    if (!group.isOpen()) throw new Error("the transaction was lost with its group");
  };
  const rollback = () => {
    inTransaction = false;
    if (!group.isOpen()) return;
    file.exec("rollback to one");
    file.exec("release one");
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
      file.exec("savepoint one");
      inTransaction = true;
    },
    insideTransaction: (run) => {
      requireOpen();
      return group.checked(run);
    },
    commit: () => {
      requireOpen();
      group.checked(() => file.exec("release one"));
      inTransaction = false;
      const durable = group.durable();
      writeIfDue();
      return durable;
    },
    rollback,
    close: () => {
      // A commit would take an unfinished transaction along.
      if (inTransaction) rollback();
      group.write();
      file.close();
    },
  };
}

interface Group {
  isOpen(): boolean;
  /** Its turn of the event loop is over, or it is full. */
  isDue(): boolean;
  /** One member more; the first opens it. @param whenDue called in the next turn of the event loop */
  join(whenDue: () => void): void;
  /** Runs a statement in it. */
  checked<T>(run: () => T): T;
  durable(): Promise<void>;
  write(): void;
}

function newGroup(file: DatabaseSync): Group {
  let waiters: Waiter[] = [];
  let timer: NodeJS.Immediate | undefined;
  let isOpen = false;
  let isOver = false;
  let members = 0;

  const settle = (tell: (waiter: Waiter) => void) => {
    clearImmediate(timer);
    isOpen = false;
    const told = waiters;
    waiters = [];
    told.forEach(tell);
  };
  const fail = (error: unknown) => settle(({ reject }) => reject(error));

  return {
    isOpen: () => isOpen,
    isDue: () => isOpen && (isOver || members >= LARGEST_GROUP),
    join: (whenDue) => {
      members++;
      if (isOpen) return;
      // IMMEDIATE: the write lock is taken at once, so that no transaction fails half-way on another process's write.
      file.exec("begin immediate");
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
        // Some errors (disk full, I/O) end SQLite's transaction: everybody in the group must hear of it.
        if (isOpen && !file.isTransaction) fail(error);
        throw error;
      }
    },
    durable: () =>
      isOpen ? new Promise((resolve, reject) => waiters.push({ resolve, reject })) : Promise.resolve(),
    write: () => {
      if (!isOpen) return;
      try {
        file.exec("commit");
        settle(({ resolve }) => resolve());
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

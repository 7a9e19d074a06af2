/**
 * Durable writes in groups. A commit and its way to the disk cost the same for one write and for many: so transactions
 * that come together share one. Each runs in a savepoint of an outer transaction, and is acknowledged when that one is on
 * the disk; the disk is waited for outside (disk-sync.ts), while the next group is filled.
 *
 * Nothing is told before it is durable: a read that comes while a group is open, or on its way to the disk, waits for it
 * too, because it may have seen what is not there yet.
 */
import type { DatabaseSync } from "node:sqlite";
import type { DiskSync } from "./disk-sync.ts";

export interface GroupCommit {
  /** Runs one statement outside a transaction; resolves when its effect, and all that it may have seen, is durable. */
  statement<T>(isWrite: boolean, run: () => T): Promise<T>;
  /** From here to `commit` or `rollback` the connection is one transaction's: others wait for their turn. */
  begin(): void;
  insideTransaction<T>(run: () => T): T;
  /** Ends the transaction at once. @returns a promise of its durability: the next one may begin before it */
  commit(): Promise<void>;
  rollback(): void;
  /** Resolves when all is on the disk and the file is closed. */
  close(): Promise<void>;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** A group is written at the latest after so many transactions, so that an answer never waits for a long queue. */
const LARGEST_GROUP = 64;

/** @param sync resolves when what was committed is on the disk; when it ever fails, nothing is believed any more */
export function groupCommit(file: DatabaseSync, sync: DiskSync): GroupCommit {
  const group = newGroup(file, sync);
  const savepoint = file.prepare("savepoint one");
  const release = file.prepare("release one");
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
      // A commit would take an unfinished transaction along.
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
  /** One member more; the first opens it. @param whenDue called in the next turn of the event loop */
  join(whenDue: () => void): void;
  /** Runs a statement in it. */
  checked<T>(run: () => T): T;
  durable(): Promise<void>;
  write(): void;
}

function newGroup(file: DatabaseSync, sync: DiskSync): Group {
  const disk = wayToTheDisk(sync);
  // Compiled once: they are run for every group.
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
    const told = waiters;
    waiters = [];
    told.forEach(tell);
  };
  const fail = (error: unknown) => settle(({ reject }) => reject(error));

  return {
    isOpen: () => isOpen,
    isDue: () => isOpen && (isOver || members >= LARGEST_GROUP),
    join: (whenDue) => {
      disk.requireWorking();
      members++;
      if (isOpen) return;
      // IMMEDIATE: the write lock is taken at once, so that no transaction fails half-way on another process's write.
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
        // Some errors (disk full, I/O) end SQLite's transaction: everybody in the group must hear of it.
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
  /** All that is committed by now is to be on the disk. */
  send(): Promise<void>;
  /** Resolves when nothing is on its way any more. */
  settled(): Promise<void>;
  requireWorking(): void;
}

/**
 * A sync that failed says nothing about which pages are on the disk, and a later one that succeeds says nothing about them
 * either: from then on every write is refused, until the process is started again and SQLite has looked at its log.
 */
function wayToTheDisk(sync: DiskSync): Disk {
  let onTheWay: Promise<void> | undefined;
  let failure: { readonly cause: unknown } | undefined;
  const requireWorking = () => {
    if (failure) throw new Error("the disk did not keep what was written: restart", failure);
  };
  const send = (): Promise<void> => {
    const sent = sync().then(requireWorking, (cause: unknown) => {
      failure ??= { cause };
      throw cause;
    });
    onTheWay = sent;
    const forget = () => {
      if (onTheWay === sent) onTheWay = undefined;
    };
    sent.then(forget, forget);
    return sent;
  };
  return {
    send,
    settled: async () => {
      requireWorking();
      await onTheWay;
    },
    requireWorking,
  };
}

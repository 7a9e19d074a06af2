/** The agent's own record of what it signed and refused: on disk before a signature leaves the machine. */
import { open } from "node:fs/promises";
import path from "node:path";
import { acquireLock, Locked } from "@signet/cli-runtime/exclusive-lock";
import { syncFolder } from "@signet/cli-runtime/private-file";
import {
  type ChainPosition,
  chainStart,
  formatEntry,
  type JournalEntry,
  type JournalRecord,
  verifyJournal,
} from "./verify-journal.ts";

export type Journal = Awaited<ReturnType<typeof openJournal>>;

/**
 * @param onEntry called with every entry that is already there
 * @throws BrokenJournal when the chain is broken, or another agent is using the journal
 */
export async function openJournal(
  path: string,
  clock: () => number,
  onEntry: (entry: JournalEntry) => void = () => {},
  openFile: OpenFile = open,
) {
  const unlock = lockJournal(path);
  try {
    const file = await openJournalFile(path, openFile);
    const position = await recover(path, file, onEntry).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return journalOver(file, { path, clock, unlock }, position);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** One agent per journal: two writers would break its chain. */
function lockJournal(path: string): () => void {
  try {
    return acquireLock(`${path}.lock.db`);
  } catch (error) {
    if (error instanceof Locked) throw new BrokenJournal(`${path} is in use by another agent`);
    throw error;
  }
}

async function recover(path: string, file: JournalFile, onEntry: (entry: JournalEntry) => void) {
  const { last, entries, fault, wholeBytes, isTorn } = await verifyJournal([path], onEntry);
  if (fault)
    throw new BrokenJournal(`${path}:${fault.line} ${fault.message}. Move the file away to start a new one`);
  // Half a line from a crash: its token never left.
  if (isTorn) await file.truncate(wholeBytes);
  return entries === 0 ? chainStart : last;
}

function journalOver(
  file: JournalFile,
  { path, clock, unlock }: { path: string; clock: () => number; unlock: () => void },
  start: ChainPosition,
) {
  let position = start;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();
  /** Records that wait for the disk: they share one write and one sync. */
  let batch: { readonly records: JournalRecord[]; readonly written: Promise<void> } | undefined;

  async function write(records: readonly JournalRecord[]): Promise<void> {
    const lines: string[] = [];
    let after = position;
    for (const record of records) {
      const entry = formatEntry(record, after, clock());
      lines.push(`${entry.line}\n`);
      after = entry.position;
    }
    await file.append(lines.join(""));
    position = after;
  }

  /** One after the other, whether or not the one before failed. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    if (isClosed) return Promise.reject(new Error(`${path} is closed`));
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  function startBatch() {
    const records: JournalRecord[] = [];
    const written = enqueue(() => {
      batch = undefined;
      return write(records);
    });
    return { records, written };
  }

  return {
    /** Resolves when the records are on disk. Rejects when they cannot be written: then nothing may be handed out. */
    append: (records: readonly JournalRecord[]): Promise<void> => {
      const open = isClosed || !batch ? startBatch() : batch;
      if (!isClosed) batch = open;
      open.records.push(...records);
      return open.written;
    },
    /** After the file was moved away: continues the chain in a new file of the same name. */
    reopen: (): Promise<void> => {
      batch = undefined;
      return enqueue(file.reopen);
    },
    get position() {
      return position;
    },
    close: async (): Promise<void> => {
      isClosed = true;
      await last;
      await file.close();
      unlock();
    },
  };
}

export class BrokenJournal extends Error {
  override name = "BrokenJournal";
}

/** The part of a FileHandle that is used. */
type Handle = Pick<Awaited<ReturnType<typeof open>>, "datasync" | "truncate" | "close"> & {
  appendFile(text: Buffer): Promise<void>;
  stat(): Promise<{ readonly size: number; readonly ino: number; readonly dev: number }>;
};
export type OpenFile = (file: string, flags: "a", mode: number) => Promise<Handle>;
type JournalFile = Awaited<ReturnType<typeof openJournalFile>>;

async function openJournalFile(file: string, openFile: OpenFile) {
  let handle = await openFile(file, "a", 0o600);
  let bytes = (await handle.stat()).size;
  let isTorn = false;
  await syncFolder(path.dirname(file));

  /** A full disk may have left half a line, which no other line may follow. */
  async function repair(): Promise<void> {
    if (isTorn) await handle.truncate(bytes);
    isTorn = false;
  }

  return {
    /** @throws BrokenJournal when another program wrote to the file; the file system's error when it cannot be written */
    append: async (text: string): Promise<void> => {
      await repair();
      // By an agent in another container with the same disk, for example: two writers would break the chain.
      if ((await handle.stat()).size !== bytes)
        throw new BrokenJournal(`${file} was changed by another program: move it away and send SIGHUP`);
      const added = Buffer.from(text);
      isTorn = true;
      await handle.appendFile(added);
      await handle.datasync();
      isTorn = false;
      bytes += added.length;
    },
    truncate: async (length: number): Promise<void> => {
      await handle.truncate(length);
      bytes = length;
    },
    /** Continues in the file that has the name now. @throws BrokenJournal when it is another one and not empty */
    reopen: async (): Promise<void> => {
      await repair();
      const next = await openFile(file, "a", 0o600);
      const [before, now] = await Promise.all([handle.stat(), next.stat()]);
      const isSame = before.ino === now.ino && before.dev === now.dev;
      if (isSame || now.size > 0) await next.close();
      if (isSame) return;
      if (now.size > 0) throw new BrokenJournal(`${file} is a different file and not empty`);
      await syncFolder(path.dirname(file));
      await handle.close();
      handle = next;
      bytes = 0;
    },
    close: (): Promise<void> => handle.close(),
  };
}

/** The agent's own record of what it signed and refused: on disk before a signature leaves the machine. */
import { open } from "node:fs/promises";
import { acquireLock, Locked } from "@signet/cli-runtime/exclusive-lock";
import {
  type ChainPosition,
  chainStart,
  formatEntry,
  type JournalEntry,
  type JournalRecord,
} from "./journal-entry.ts";
import { BrokenJournal, type JournalFile, type OpenFile, openJournalFile } from "./journal-file.ts";
import { verifyJournal } from "./verify-journal.ts";

export interface Journal {
  /** Resolves when the records are on disk. Rejects when they cannot be written: then nothing may be handed out. */
  append(records: readonly JournalRecord[]): Promise<void>;
  /** After the file was moved away: continues the chain in a new file of the same name. */
  reopen(): Promise<void>;
  readonly position: ChainPosition;
  close(): Promise<void>;
}

/**
 * @param onEntry called with every entry that is already there
 * @throws BrokenJournal when the chain is broken, or another agent is using the journal
 */
export async function openJournal(
  path: string,
  clock: () => number,
  onEntry: (entry: JournalEntry) => void = () => {},
  openFile: OpenFile = open,
): Promise<Journal> {
  const unlock = lockJournal(path);
  try {
    const file = await openJournalFile(path, openFile);
    const position = await recover(path, file, onEntry).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return journalOf({ path, file, clock, unlock }, position);
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

async function recover(
  path: string,
  file: JournalFile,
  onEntry: (entry: JournalEntry) => void,
): Promise<ChainPosition> {
  const { last, entries, fault, wholeBytes, isTorn } = await verifyJournal([path], onEntry);
  if (fault)
    throw new BrokenJournal(`${path}:${fault.line} ${fault.message}. Move the file away to start a new one`);
  // Half a line from a crash: its token never left.
  if (isTorn) await file.truncate(wholeBytes);
  return entries === 0 ? chainStart : last;
}

interface OpenParts {
  readonly path: string;
  readonly file: JournalFile;
  readonly clock: () => number;
  readonly unlock: () => void;
}

function journalOf({ path, file, clock, unlock }: OpenParts, start: ChainPosition): Journal {
  let position = start;
  let isClosed = false;

  async function write(records: readonly JournalRecord[]): Promise<void> {
    if (records.length === 0) return;
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

  const enqueue = writeQueue(write, file.reopen);
  const whileOpen = async (item: QueueItem) => {
    if (isClosed) throw new Error(`${path} is closed`);
    await enqueue(item);
  };
  return {
    append: whileOpen,
    reopen: () => whileOpen("reopen"),
    get position() {
      return position;
    },
    close: async () => {
      isClosed = true;
      // After all pending writes; their failures went to whoever made them.
      await enqueue([]).catch(() => undefined);
      await file.close();
      unlock();
    },
  };
}

type QueueItem = readonly JournalRecord[] | "reopen";

interface Queued {
  readonly item: QueueItem;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** One item at a time; all records that arrive while the disk is busy share one write and one sync. */
function writeQueue(
  write: (records: readonly JournalRecord[]) => Promise<void>,
  reopen: () => Promise<void>,
): (item: QueueItem) => Promise<void> {
  const queue: Queued[] = [];
  let isBusy = false;

  function nextBatch(): Queued[] {
    const index = queue.findIndex(({ item }) => item === "reopen");
    return queue.splice(0, index === -1 ? queue.length : Math.max(index, 1));
  }

  async function drain(): Promise<void> {
    isBusy = true;
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      const records = batch.flatMap(({ item }) => (item === "reopen" ? [] : item));
      try {
        await (batch[0]?.item === "reopen" ? reopen() : write(records));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isBusy = false;
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.push({ item, resolve, reject });
    if (!isBusy) void drain();
    return promise;
  };
}

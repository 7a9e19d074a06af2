/** The agent's own record of what it signed and refused: on disk before a signature leaves the machine. */
import { type FileHandle, open } from "node:fs/promises";
import {
  type ChainPosition,
  chainStart,
  formatEntry,
  type JournalEntry,
  type JournalRecord,
} from "./journal-entry.ts";
import { BrokenJournal, lockJournal } from "./journal-lock.ts";
import { verifyJournal } from "./verify-journal.ts";

export interface Journal {
  /** Resolves when the records are on the disk. Rejects when they cannot be written: then nothing may be handed out. */
  append(records: readonly JournalRecord[]): Promise<void>;
  /** After the file was moved away: goes on in a new one of the old name, the chain continued. */
  reopen(): Promise<void>;
  /** Where the chain stands. */
  readonly position: ChainPosition;
  close(): Promise<void>;
}

/**
 * @param each told of every entry that is there already
 * @throws BrokenJournal when the file is no unbroken chain, or another agent writes it
 */
export async function openJournal(
  path: string,
  clock: () => number,
  each: (entry: JournalEntry) => void = () => {},
): Promise<Journal> {
  const unlock = await lockJournal(path);
  try {
    const opened = await openChecked(path, each);
    return journalOf(path, clock, opened, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

interface Opened {
  readonly file: FileHandle;
  readonly position: ChainPosition;
}

async function openChecked(path: string, each: (entry: JournalEntry) => void): Promise<Opened> {
  const file = await open(path, "a", 0o600);
  const { last, entries, fault, wholeBytes, isTorn } = await verifyJournal([path], each);
  if (fault) {
    await file.close();
    throw new BrokenJournal(`${path}:${fault.line} ${fault.message}. Move the file away to begin a new one`);
  }
  // What was half written when the machine went down: its token never left.
  if (isTorn) await file.truncate(wholeBytes);
  return { file, position: entries === 0 ? chainStart : last };
}

function journalOf(path: string, clock: () => number, opened: Opened, unlock: () => Promise<void>): Journal {
  let { file, position } = opened;

  async function write(records: readonly JournalRecord[]): Promise<void> {
    const lines: string[] = [];
    let at = position;
    for (const record of records) {
      const entry = formatEntry(record, at, clock());
      lines.push(`${entry.line}\n`);
      at = entry.position;
    }
    await file.appendFile(lines.join(""));
    await file.datasync();
    position = at;
  }

  async function openAgain(): Promise<void> {
    const next = await open(path, "a", 0o600);
    await file.close();
    file = next;
  }

  const queue = batches<readonly JournalRecord[] | "reopen">(async (batch) => {
    const records = batch.flatMap((item) => (item === "reopen" ? [] : item));
    if (records.length > 0) await write(records);
    if (batch.includes("reopen")) await openAgain();
  });
  return {
    append: queue,
    reopen: () => queue("reopen"),
    get position() {
      return position;
    },
    close: async () => {
      // Behind all that is written already; that it failed was told to whoever wrote it.
      await queue([]).catch(() => undefined);
      await file.close();
      await unlock();
    },
  };
}

interface Waiting<Item> {
  readonly item: Item;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** Everything that came while the disk was busy goes in one write and one sync. */
function batches<Item>(write: (batch: Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let waiting: Waiting<Item>[] = [];
  let isWriting = false;
  let failure: unknown;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        // Perhaps half a line is there: no other may follow it, and nothing is signed until a restart.
        if (failure !== undefined) throw failure;
        await write(batch.map(({ item }) => item));
        for (const { done } of batch) done();
      } catch (error) {
        failure = error;
        for (const { failed } of batch) failed(error);
      }
    }
    isWriting = false;
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (!isWriting) void writeAll();
    });
}

/** The agent's own record of what it signed and refused: on disk before a signature leaves the machine. */
import { open } from "node:fs/promises";
import {
  type ChainPosition,
  chainStart,
  formatEntry,
  type JournalEntry,
  type JournalRecord,
} from "./journal-entry.ts";
import { type JournalFile, type OpenFile, openJournalFile } from "./journal-file.ts";
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
  openFile: OpenFile = open,
): Promise<Journal> {
  const unlock = await lockJournal(path);
  try {
    const file = await openJournalFile(path, openFile);
    const position = await checked(path, file, each);
    return journalOf({ path, file, clock, unlock }, position);
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function checked(
  path: string,
  file: JournalFile,
  each: (entry: JournalEntry) => void,
): Promise<ChainPosition> {
  try {
    const { last, entries, fault, wholeBytes, isTorn } = await verifyJournal([path], each);
    if (fault)
      throw new BrokenJournal(
        `${path}:${fault.line} ${fault.message}. Move the file away to begin a new one`,
      );
    // What was half written when the machine went down: its token never left.
    if (isTorn) await file.keep(wholeBytes);
    return entries === 0 ? chainStart : last;
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Place {
  readonly path: string;
  readonly file: JournalFile;
  readonly clock: () => number;
  readonly unlock: () => Promise<void>;
}

function journalOf({ path, file, clock, unlock }: Place, start: ChainPosition): Journal {
  let position = start;
  let isClosed = false;

  async function write(records: readonly JournalRecord[]): Promise<void> {
    if (records.length === 0) return;
    const lines: string[] = [];
    let at = position;
    for (const record of records) {
      const entry = formatEntry(record, at, clock());
      lines.push(`${entry.line}\n`);
      at = entry.position;
    }
    await file.add(lines.join(""));
    position = at;
  }

  const queue = inTurn(write, file.reopen);
  const whileOpen = async (item: Item) => {
    if (isClosed) throw new Error(`${path} is closed`);
    await queue(item);
  };
  return {
    append: whileOpen,
    reopen: () => whileOpen("reopen"),
    get position() {
      return position;
    },
    close: async () => {
      isClosed = true;
      // Behind all that is written already; that it failed was told to whoever wrote it.
      await queue([]).catch(() => undefined);
      await file.close();
      await unlock();
    },
  };
}

type Item = readonly JournalRecord[] | "reopen";

interface Waiting {
  readonly item: Item;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** One after the other; all records that came while the disk was busy go in one write and one sync. */
function inTurn(
  write: (records: readonly JournalRecord[]) => Promise<void>,
  reopen: () => Promise<void>,
): (item: Item) => Promise<void> {
  const waiting: Waiting[] = [];
  let isBusy = false;

  function next(): Waiting[] {
    const other = waiting.findIndex(({ item }) => item === "reopen");
    return waiting.splice(0, other === -1 ? waiting.length : Math.max(other, 1));
  }

  async function workOff(): Promise<void> {
    isBusy = true;
    for (let batch = next(); batch.length > 0; batch = next()) {
      const records = batch.flatMap(({ item }) => (item === "reopen" ? [] : item));
      try {
        await (batch[0]?.item === "reopen" ? reopen() : write(records));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    isBusy = false;
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (!isBusy) void workOff();
    });
}

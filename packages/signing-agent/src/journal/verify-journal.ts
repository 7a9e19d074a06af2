/** Verifies the chain of journal files and finds the first line that breaks it. */
import { createReadStream } from "node:fs";
import { type ChainPosition, chainStart, type JournalEntry, readEntry } from "./journal-entry.ts";

export interface JournalFault {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface VerifiedJournal {
  readonly first: ChainPosition | undefined;
  readonly last: ChainPosition;
  readonly entries: number;
  readonly fault: JournalFault | undefined;
  /** Bytes of complete lines in the last file, and whether an incomplete one follows. */
  readonly wholeBytes: number;
  readonly isTorn: boolean;
}

/**
 * @param files in the order they were written
 * @param onEntry called with every valid entry
 */
export async function verifyJournal(
  files: readonly string[],
  onEntry: (entry: JournalEntry) => void = () => {},
): Promise<VerifiedJournal> {
  let after: ChainPosition | undefined;
  let first: ChainPosition | undefined;
  let entries = 0;
  let end = { wholeBytes: 0, isTorn: false };
  const report = (fault: JournalFault | undefined): VerifiedJournal => ({
    first,
    last: after ?? chainStart,
    entries,
    fault,
    ...end,
  });
  for (const file of files) {
    end = { wholeBytes: 0, isTorn: false };
    let number = 0;
    for await (const { text, bytes, ending } of readLines(file)) {
      number += 1;
      // The agent writes no such line, and truncating it would cut off what follows as well.
      if (ending === "too long") return report({ file, line: number, message: "is not a journal entry" });
      if (ending === "none") {
        end = { ...end, isTorn: true };
        if (file !== files.at(-1))
          return report({ file, line: number, message: "is incomplete, and not the last line" });
        break;
      }
      const entry = readEntry(text, after);
      if (typeof entry === "string") return report({ file, line: number, message: entry });
      first ??= { seq: entry.seq, hash: entry.prev };
      after = { seq: entry.seq, hash: entry.hash };
      entries += 1;
      end = { ...end, wholeBytes: end.wholeBytes + bytes };
      onEntry(entry);
    }
  }
  return report(undefined);
}

const MAX_LINE_BYTES = 131_072;

/** The lines of a file, and whatever follows the last line feed. */
async function* readLines(file: string) {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, start)) {
      yield { text: rest.toString("utf8", start, at), bytes: at + 1 - start, ending: "line feed" } as const;
      start = at + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > MAX_LINE_BYTES) {
      yield { text: "", bytes: rest.length, ending: "too long" } as const;
      return;
    }
  }
  if (rest.length > 0) yield { text: "", bytes: rest.length, ending: "none" } as const;
}

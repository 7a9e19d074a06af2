/** Reads journals from their first line to their last and finds the first one that does not follow on the one before. */
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
  /** Bytes of whole lines in the last file, and whether there is a torn one after them. */
  readonly wholeBytes: number;
  readonly isTorn: boolean;
}

/**
 * @param files in the order in which they were written
 * @param each told of every entry that follows
 */
export async function verifyJournal(
  files: readonly string[],
  each: (entry: JournalEntry) => void = () => {},
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
    for await (const { text, bytes, ending } of linesOf(file)) {
      number += 1;
      // Nothing that this agent wrote, torn or not: to cut it off would cut off what follows as well.
      if (ending === "too far") return report({ file, line: number, message: "is no entry of a journal" });
      if (ending === "none") {
        end = { ...end, isTorn: true };
        if (file !== files.at(-1))
          return report({ file, line: number, message: "is torn, and is not the last" });
        break;
      }
      const entry = readEntry(text, after);
      if (typeof entry === "string") return report({ file, line: number, message: entry });
      first ??= { seq: entry.seq, hash: entry.prev };
      after = { seq: entry.seq, hash: entry.hash };
      entries += 1;
      end = { ...end, wholeBytes: end.wholeBytes + bytes };
      each(entry);
    }
  }
  return report(undefined);
}

const LONGEST_LINE = 131_072;

interface Line {
  readonly text: string;
  readonly bytes: number;
  readonly ending: "line feed" | "none" | "too far";
}

/** The lines of a file, and what stands after the last line end if something does. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, start)) {
      yield { text: rest.toString("utf8", start, at), bytes: at + 1 - start, ending: "line feed" };
      start = at + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > LONGEST_LINE) {
      yield { text: "", bytes: rest.length, ending: "too far" };
      return;
    }
  }
  if (rest.length > 0) yield { text: "", bytes: rest.length, ending: "none" };
}

/** Verifies the chain of journal files and finds the first line that breaks it. */
import { createReadStream } from "node:fs";
import { sha256Base64url } from "@signet/protocol/hash";
import type { TokenUse } from "../policy/decode-token.ts";
import { isJsonObject, parseStrictJson } from "../strict-json.ts";

interface JournalFault {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** @param files in the order they were written. @param onEntry called with every valid entry */
export async function verifyJournal(
  files: readonly string[],
  onEntry: (entry: JournalEntry) => void = () => {},
) {
  let after: ChainPosition | undefined;
  let first: ChainPosition | undefined;
  let entries = 0;
  /** Bytes of complete lines in the last file, and whether an incomplete one follows. */
  let end = { wholeBytes: 0, isTorn: false };
  const report = (fault?: JournalFault) => ({ first, last: after ?? chainStart, entries, fault, ...end });
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
  return report();
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

export interface SignedRecord {
  readonly event: "signed";
  readonly requestId: string;
  readonly clientId: string;
  readonly grant: string;
  readonly use: TokenUse;
  readonly kid: string;
  readonly jti: string | null;
  /** Null for a message that tells of no user. */
  readonly sub: string | null;
  readonly aud: readonly string[];
  /** Access tokens and identity assertions only. */
  readonly scopes?: readonly string[];
  /** Seconds since the epoch; null for an answer without an end. */
  readonly exp: number | null;
  /** SHA-256 of the signed token, base64url. Absent when this agent gave a share of the signature, and others completed it. */
  readonly tokenSha256?: string;
  /** SHA-256 of what was signed, as the organisation's ledger names it. */
  readonly inputSha256: string;
  /** Type of the challenge that the user passed. */
  readonly challenge: string | null;
  /** The earlier request in which the user passed it. */
  readonly passedIn?: string;
  /** SHA-256 of the agents' approvals, this one's last. */
  readonly approvals?: readonly string[];
  /** Of this one's approval. */
  readonly count?: number;
}

/** Bytes that another agent was to sign. Whether it did, the ledger says. */
export interface ApprovedRecord extends Omit<SignedRecord, "event" | "tokenSha256" | "approvals"> {
  readonly event: "approved";
  /** Of the agent that was to sign. */
  readonly kid: string;
  /** SHA-256 of the approval, as the ledger's entry has it. */
  readonly approvalSha256: string;
  readonly count: number;
}

interface RefusedRecord {
  readonly event: "refused";
  readonly requestId: string;
  /** Claimed by the service, unverified. */
  readonly clientId: string;
  readonly reason: string;
  readonly check: string;
  readonly detail: string;
}

export type JournalRecord = SignedRecord | ApprovedRecord | RefusedRecord;

export type JournalEntry = JournalRecord & {
  /** From 1 without gaps, across files. */
  readonly seq: number;
  /** RFC 3339. */
  readonly time: string;
  /** `hash` of the previous entry; 43 times `A` in the first one. */
  readonly prev: string;
  readonly hash: string;
};

export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

export const chainStart: ChainPosition = { seq: 0, hash: "A".repeat(43) };

/** @returns the line without its line feed, and the position after it */
export function formatEntry(record: JournalRecord, after: ChainPosition, now: number) {
  const seq = after.seq + 1;
  const text = JSON.stringify({ seq, time: new Date(now).toISOString(), ...record, prev: after.hash });
  const hash = sha256Base64url(text);
  // The hash covers exactly the text before it: verification needs no canonical form of JSON.
  return { line: `${text.slice(0, -1)},"hash":"${hash}"}`, position: { seq, hash } };
}

const hashMember = /,"hash":"([A-Za-z0-9_-]{43})"\}$/;

/**
 * @param after undefined for the first line of a file that continues another one
 * @returns the entry, or in words what is wrong with it
 */
function readEntry(line: string, after: ChainPosition | undefined): JournalEntry | string {
  const hash = hashMember.exec(line)?.[1];
  if (hash === undefined) return "is not a journal entry";
  const text = line.replace(hashMember, "}");
  if (sha256Base64url(text) !== hash) return "was changed: its hash does not match";
  const entry = parseEntry(line);
  if (!entry) return "is not a journal entry";
  if (after && entry.prev !== after.hash)
    return `does not follow entry ${after.seq}: lines were removed or replaced`;
  if (after && entry.seq !== after.seq + 1) return `has number ${entry.seq} instead of ${after.seq + 1}`;
  return entry;
}

function parseEntry(line: string): JournalEntry | undefined {
  try {
    const value = parseStrictJson(line);
    const isEntry =
      isJsonObject(value) && typeof value["seq"] === "number" && typeof value["prev"] === "string";
    return isEntry ? (value as unknown as JournalEntry) : undefined;
  } catch {
    return undefined;
  }
}

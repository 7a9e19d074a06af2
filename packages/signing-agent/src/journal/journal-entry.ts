/**
 * One line of the journal. Each carries the hash of the line before it, so that nothing can be taken out, put in or
 * changed later without the break being seen (docs/signing-agent.md says what that proves, and what it does not).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { isJsonObject, parseStrictJson } from "../strict-json.ts";

export interface SignedRecord {
  readonly event: "signed";
  readonly requestId: string;
  readonly clientId: string;
  readonly grant: string;
  readonly use: "access_token" | "id_token";
  readonly kid: string;
  readonly jti: string | null;
  readonly sub: string;
  readonly aud: readonly string[];
  /** Of the access token. */
  readonly scopes?: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number;
  /** SHA-256 of the finished token, base64url. */
  readonly tokenSha256: string;
  /** The kind of challenge that the user passed. */
  readonly challenge: string | null;
  /** The request in which the user passed it, when that was an earlier one. */
  readonly passedIn?: string;
}

export interface RefusedRecord {
  readonly event: "refused";
  readonly requestId: string;
  /** What the service said of it: nothing of it was believed. */
  readonly clientId: string;
  readonly reason: string;
  readonly check: string;
  readonly detail: string;
}

export type JournalRecord = SignedRecord | RefusedRecord;

export type JournalEntry = JournalRecord & {
  /** From 1, without gaps, also over several files. */
  readonly seq: number;
  /** RFC 3339. */
  readonly time: string;
  /** `hash` of the entry before; of the first one 43 times `A`. */
  readonly prev: string;
  readonly hash: string;
};

export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

export const chainStart: ChainPosition = { seq: 0, hash: "A".repeat(43) };

/** @returns the line, without its end, and the position after it */
export function formatEntry(
  record: JournalRecord,
  after: ChainPosition,
  now: number,
): { line: string; position: ChainPosition } {
  const seq = after.seq + 1;
  const body = { seq, time: new Date(now).toISOString(), ...record, prev: after.hash };
  const text = JSON.stringify(body);
  const hash = sha256Base64url(text);
  // The hash covers exactly the text before it, so that checking needs no agreement on how JSON is written.
  return { line: `${text.slice(0, -1)},"hash":"${hash}"}`, position: { seq, hash } };
}

const hashMember = /,"hash":"([A-Za-z0-9_-]{43})"\}$/;

/**
 * The entry of a line that follows on `after`.
 * @param after undefined: wherever it stands, for the first line of a file that continues another one
 * @returns what is wrong with it, in words, when it does not follow
 */
export function readEntry(line: string, after: ChainPosition | undefined): JournalEntry | string {
  const hash = hashMember.exec(line)?.[1];
  if (hash === undefined) return "is no entry of a journal";
  const text = `${line.slice(0, line.length - `,"hash":"${hash}"}`.length)}}`;
  if (sha256Base64url(text) !== hash) return "was changed: its hash is that of another text";
  const entry = entryOf(line);
  if (!entry) return "is no entry of a journal";
  if (after && entry.prev !== after.hash)
    return `does not follow on entry ${after.seq}: lines are missing or others`;
  if (after && entry.seq !== after.seq + 1) return `has number ${entry.seq}, not ${after.seq + 1}`;
  return entry;
}

function entryOf(line: string): JournalEntry | undefined {
  try {
    const value = parseStrictJson(line);
    const isEntry =
      isJsonObject(value) && typeof value["seq"] === "number" && typeof value["prev"] === "string";
    return isEntry ? (value as unknown as JournalEntry) : undefined;
  } catch {
    return undefined;
  }
}

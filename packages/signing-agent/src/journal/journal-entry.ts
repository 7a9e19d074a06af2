/**
 * One line of the journal. Each carries the hash of the line before it, so that removing, inserting or changing a line breaks
 * the chain (docs/signing-agent.md says what that proves and what it does not).
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
  /** Access tokens only. */
  readonly scopes?: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number;
  /** SHA-256 of the signed token, base64url. */
  readonly tokenSha256: string;
  /** Type of the challenge that the user passed. */
  readonly challenge: string | null;
  /** The earlier request in which the user passed it. */
  readonly passedIn?: string;
}

export interface RefusedRecord {
  readonly event: "refused";
  readonly requestId: string;
  /** Claimed by the service, unverified. */
  readonly clientId: string;
  readonly reason: string;
  readonly check: string;
  readonly detail: string;
}

export type JournalRecord = SignedRecord | RefusedRecord;

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
export function formatEntry(
  record: JournalRecord,
  after: ChainPosition,
  now: number,
): { line: string; position: ChainPosition } {
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
export function readEntry(line: string, after: ChainPosition | undefined): JournalEntry | string {
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

/** Entries of an organisation's ledger of signatures (threshold-and-ledger.md §2): hashes and names of keys, nothing personal. */
import { hash } from "node:crypto";

export const entryKinds = [
  "access_token",
  "id_token",
  "logout_token",
  "security_event_token",
  "authorization_response",
  "id_jag",
] as const;

export type EntryKind = (typeof entryKinds)[number];

/** A signature in the organisation's name. */
export interface SignatureEntry {
  readonly v: 1;
  readonly kind: EntryKind;
  /** SHA-256 of the signing input (RFC 7515 §5.1: header, dot, payload), base64url. */
  readonly sha256: string;
  readonly kid: string;
  /** Seconds since the epoch. */
  readonly time: number;
  /** `local` for the service's own keys, else the pool whose agents signed. */
  readonly signer: "local" | `pool:${string}`;
  /** SHA-256 of each agent's approval, base64url. */
  readonly approvals: readonly string[];
}

/** The head of the organisation's audit chain at that time. */
export interface AuditHeadEntry {
  readonly v: 1;
  readonly kind: "audit_head";
  readonly seq: number;
  readonly hash: string;
  readonly time: number;
}

export type LedgerEntry = SignatureEntry | AuditHeadEntry;

/** The bytes that are hashed into the tree: members in this order, without spaces. */
export function formatEntry(entry: LedgerEntry): string {
  if (entry.kind === "audit_head") {
    const { v, kind, seq, hash, time } = entry;
    return JSON.stringify({ v, kind, seq, hash, time });
  }
  const { v, kind, sha256, kid, time, signer, approvals } = entry;
  return JSON.stringify({ v, kind, sha256, kid, time, signer, approvals });
}

/** What an entry calls a compact JWS: the SHA-256 of all but its signature. */
export const signingInputHash = (jws: string): string =>
  hash("sha256", jws.slice(0, Math.max(0, jws.lastIndexOf("."))), "base64url");

/** As somebody writes it: base64url, or hexadecimal. @returns base64url; undefined for what is no SHA-256 */
export function parseInputHash(text: string): string | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, "hex").toString("base64url");
  return /^[A-Za-z0-9_-]{43}$/.test(text) && Buffer.from(text, "base64url").toString("base64url") === text
    ? text
    : undefined;
}

const isText = (value: unknown, max: number): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= max;
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isHash = (value: unknown): boolean => typeof value === "string" && /^[\w-]{43}$/.test(value);

/** @returns undefined for what no ledger of this version writes */
export function parseEntry(text: string): LedgerEntry | undefined {
  let value: Record<string, unknown>;
  try {
    value = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { v, kind, sha256, kid, time, signer, approvals, seq, hash: head } = value;
  const entry = value as unknown as LedgerEntry;
  if (v !== 1 || !isNumber(time)) return undefined;
  if (kind === "audit_head") {
    if (!isNumber(seq) || !isText(head, 128)) return undefined;
  } else {
    if (!entryKinds.some((one) => one === kind) || !isHash(sha256) || !isText(kid, 256)) return undefined;
    if (!isText(signer, 128) || !/^(local|pool:[\w-]+)$/.test(signer)) return undefined;
    if (!Array.isArray(approvals) || approvals.length > 9 || !approvals.every(isHash)) return undefined;
  }
  return formatEntry(entry) === text ? entry : undefined;
}

const MAX_ENTRY_BYTES = 65_535;

/** An entry bundle of C2SP tlog-tiles: each entry after its length, two bytes. */
export function formatBundle(entries: readonly string[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      const bytes = Buffer.from(entry);
      if (bytes.length > MAX_ENTRY_BYTES) throw new RangeError("an entry is too long");
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** The bytes of each entry; undefined when the bundle ends within one. */
export function parseBundle(bundle: Buffer): Buffer[] | undefined {
  const entries: Buffer[] = [];
  for (let at = 0; at < bundle.length; ) {
    if (at + 2 > bundle.length) return undefined;
    const end = at + 2 + bundle.readUInt16BE(at);
    if (end > bundle.length) return undefined;
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

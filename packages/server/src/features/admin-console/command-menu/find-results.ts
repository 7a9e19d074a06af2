/**
 * What the text in the command menu stands for: words of a page, an action or a record, an ID, or the reference that an error page
 * shows. Every query has a limit and names the organisation.
 */
import { isUuid } from "@signet/protocol/hash";
import { findAuditEvent, type StoredEvent } from "../../../core/audit/audit.store.ts";
import { readRange } from "../../../core/audit/search/search.store.ts";
import { searchWords } from "../../../core/users/members/members.store.ts";
import type { Db } from "../../../db/open.ts";
import {
  type FoundRecord,
  findRecordById,
  findRecords,
  type RecordKind,
  recordKinds,
} from "./records.store.ts";

export interface Found {
  readonly records: ReadonlyArray<{ readonly kind: RecordKind; readonly found: readonly FoundRecord[] }>;
  /** Newest first. */
  readonly events: readonly StoredEvent[];
}

const PER_KIND = 5;
const MAX_EVENTS = 3;
/** One letter is in almost every name. */
const MIN_LETTERS = 2;

export async function findResults(db: Db, orgId: string, text: string): Promise<Found> {
  const id = text.toLowerCase();
  const records = isUuid(id) ? await recordsOfId(db, orgId, id) : await recordsOfWords(db, orgId, text);
  return { records, events: await eventsOf(db, orgId, text) };
}

async function recordsOfId(db: Db, orgId: string, id: string): Promise<Found["records"]> {
  return Promise.all(
    recordKinds.map(async (kind) => {
      const record = await findRecordById(db, orgId, kind, id);
      return { kind, found: record ? [record] : [] };
    }),
  );
}

async function recordsOfWords(db: Db, orgId: string, text: string): Promise<Found["records"]> {
  const words = searchWords(text);
  if (words.join("").length < MIN_LETTERS) return [];
  return Promise.all(
    recordKinds.map(async (kind) => ({
      kind,
      found: await findRecords(db, orgId, kind, { words, limit: PER_KIND }),
    })),
  );
}

/** The event with this ID, and those of the request with this reference. */
async function eventsOf(db: Db, orgId: string, text: string): Promise<StoredEvent[]> {
  if (!isReference(text)) return [];
  const own = isUuid(text) ? await findAuditEvent(db, orgId, text.toLowerCase()) : undefined;
  if (own) return [own];
  const range = { orgId, order: "newest first", limit: MAX_EVENTS } as const;
  return readRange(db, [{ column: "request", value: text }], range);
}

/** One word. */
const isReference = (text: string): boolean => /^\S{3,}$/.test(text);

/** Where each word of the text is in a label or its keywords: the best first. */
export function matchLabels<Item extends { readonly label: string; readonly keywords: string }>(
  items: readonly Item[],
  text: string,
): Item[] {
  const words = searchWords(text);
  const rank = ({ label, keywords }: Item): number | undefined => {
    const name = ` ${label.normalize("NFKC").toLowerCase()}`;
    if (!words.every((word) => name.includes(word) || keywords.includes(word))) return undefined;
    return words.filter((word) => !name.includes(` ${word}`)).length;
  };
  return items
    .map((item) => ({ item, place: rank(item) }))
    .filter((one): one is { item: Item; place: number } => one.place !== undefined)
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

/** Exports the audit log in batches, so that memory use doesn't depend on its length. */
import { csvLine } from "@signet/protocol/csv";
import type { ReadFrom } from "../../../db/old-reads.ts";
import type { StoredEvent } from "../audit.store.ts";
import { withTypedEmails } from "../event-context.store.ts";
import { joinDetails } from "../event-context.ts";
import {
  type EventPosition,
  readChained,
  readEvents,
  readRange,
  readUnchainedIds,
} from "../search/search.store.ts";
import {
  type AuditFilter,
  indexFiltersOf,
  isUnfiltered,
  isUnsatisfiable,
  matches,
} from "../search/search.ts";

const BATCH = 500;

/**
 * Oldest first. Without a filter: in the order of the chain, so that the export can be verified, with unchained
 * events last. With a filter: in the order of time.
 */
export async function* exportAuditEvents(
  read: ReadFrom,
  orgId: string,
  filter: AuditFilter,
): AsyncGenerator<EventWithEmail> {
  const named = (events: readonly StoredEvent[]) =>
    read(({ query }) => withTypedEmails(query, orgId, events));
  const batch: StoredEvent[] = [];
  for await (const event of isUnfiltered(filter) ? wholeLog(read, orgId) : filtered(read, orgId, filter))
    if (batch.push(event) === BATCH) yield* await named(batch.splice(0));
  yield* await named(batch);
}

async function* wholeLog(read: ReadFrom, orgId: string): AsyncGenerator<StoredEvent> {
  const first = yield* chained(read, orgId, 0);
  const unchained = await unchainedIds(read, orgId);
  // Again, for events chained in between; the rest is exported as unchained.
  for await (const event of chained(read, orgId, first)) {
    unchained.delete(event.id);
    yield event;
  }
  const ids = [...unchained];
  for (let at = 0; at < ids.length; at += BATCH)
    for (const { seq: _, hash: __, ...event } of await read(({ query }) =>
      readEvents(query, orgId, ids.slice(at, at + BATCH)),
    ))
      yield event;
}

/** @returns the last position */
async function* chained(read: ReadFrom, orgId: string, from: number): AsyncGenerator<StoredEvent, number> {
  for (let after = from; ; ) {
    const batch = await read(({ query }) => readChained(query, orgId, { after: after, limit: BATCH }));
    yield* batch;
    after = batch.at(-1)?.seq ?? after;
    if (batch.length < BATCH) return after;
  }
}

/** All ids in order; after a broken chain, as many as were recorded since. */
async function unchainedIds(read: ReadFrom, orgId: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = ""; ; ) {
    const page = await read(({ query }) => readUnchainedIds(query, orgId, { after, limit: BATCH }));
    for (const id of page) ids.add(id);
    if (page.length < BATCH) return ids;
    after = page.at(-1) ?? after;
  }
}

async function* filtered(read: ReadFrom, orgId: string, filter: AuditFilter): AsyncGenerator<StoredEvent> {
  if (isUnsatisfiable(filter)) return;
  const indexFilters = indexFiltersOf(filter);
  const { from, to } = filter;
  for (let after: EventPosition | undefined; ; ) {
    const range = { orgId, from, to, after, order: "oldest first", limit: BATCH } as const;
    const batch: StoredEvent[] = await read(({ query }) => readRange(query, indexFilters, range));
    for (const event of batch) if (matches(filter, event)) yield event;
    if (batch.length < BATCH) return;
    after = batch.at(-1);
  }
}

export type ExportFormat = "csv" | "jsonl";

export interface LineFormat {
  readonly contentType: string;
  readonly head: string;
  line(event: EventWithEmail): string;
}

/** With the email address that was typed, where it is still stored. */
export type EventWithEmail = StoredEvent & { readonly typedEmail?: string };

/** As the JSON APIs and `--json` show it. Chained members as they were hashed. */
export const eventRecord = (event: EventWithEmail) => ({
  orgId: event.orgId,
  seq: event.seq ?? null,
  hash: event.hash ?? null,
  id: event.id,
  at: new Date(event.at).toISOString(),
  actor: event.actor,
  action: event.action,
  target: event.target ?? null,
  address: event.address ?? null,
  details: joinDetails(event.details, event.context),
  applicationId: event.context?.applicationId ?? null,
  browser: event.context?.browser ?? null,
  requestId: event.context?.requestId ?? null,
  reason: typeof event.details["reason"] === "string" ? event.details["reason"] : null,
  typedEmail: event.typedEmail ?? null,
});

const columns = [
  ...(["seq", "hash", "id", "at", "actor", "action", "target", "address", "details"] as const),
  ...(["applicationId", "browser", "requestId", "reason", "typedEmail"] as const),
];

export const lineFormats: Readonly<Record<ExportFormat, LineFormat>> = {
  csv: {
    contentType: "text/csv; charset=utf-8",
    head: csvLine(columns),
    line: (event) => {
      const record = eventRecord(event);
      const cells = { ...record, details: JSON.stringify(record.details) };
      return csvLine(columns.map((column) => String(cells[column] ?? "")));
    },
  },
  jsonl: {
    contentType: "application/x-ndjson; charset=utf-8",
    head: "",
    line: (event) => `${JSON.stringify(eventRecord(event))}\n`,
  },
};

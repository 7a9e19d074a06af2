/** Searches audit events by index and by sequence. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { type StoredEvent, toStoredEvent } from "../audit.store.ts";

/** A condition with an index of its own. */
export interface IndexFilter {
  readonly column: "actor" | "action" | "target" | "address";
  readonly value: string;
}

export interface EventPosition {
  readonly at: number;
  readonly id: string;
}

export interface SequenceRange {
  readonly orgId: string;
  /** Milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** Milliseconds, exclusive. */
  readonly to?: number | undefined;
  /** The last event of the previous range. */
  readonly after?: EventPosition | undefined;
  readonly order: "newest first" | "oldest first";
  readonly limit: number;
}

/**
 * Events that match any of the index filters (all events without one), in the order of time. Each index holds this
 * order, so that no more rows are read than requested.
 */
export async function readRange(
  db: Db,
  indexFilters: readonly IndexFilter[],
  range: SequenceRange,
): Promise<StoredEvent[]> {
  const found = await Promise.all(
    indexFilters.length === 0
      ? [readIndexFilter(db, undefined, range)]
      : indexFilters.map((indexFilter) => readIndexFilter(db, indexFilter, range)),
  );
  if (found.length === 1) return found[0] ?? [];
  // The first events overall are among the first events of each filter.
  const once = new Map(found.flat().map((event) => [event.id, event]));
  const sign = range.order === "newest first" ? -1 : 1;
  return [...once.values()].sort((one, other) => sign * compare(one, other)).slice(0, range.limit);
}

const compare = (one: EventPosition, other: EventPosition): number =>
  one.at === other.at ? (one.id < other.id ? -1 : 1) : one.at - other.at;

async function readIndexFilter(
  db: Db,
  indexFilter: IndexFilter | undefined,
  range: SequenceRange,
): Promise<StoredEvent[]> {
  const { orgId, from, to, after, order, limit } = range;
  const isNewestFirst = order === "newest first";
  const direction = isNewestFirst ? "desc" : "asc";
  let query = db.selectFrom("audit_event").selectAll().where("org_id", "=", orgId);
  if (indexFilter) query = query.where(indexFilter.column, "=", indexFilter.value);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (to !== undefined) query = query.where("at", "<", to);
  if (after)
    query = query.where(
      isNewestFirst
        ? sql<boolean>`(at, id) < (${after.at}, ${after.id})`
        : sql<boolean>`(at, id) > (${after.at}, ${after.id})`,
    );
  const rows = await query.orderBy("at", direction).orderBy("id", direction).limit(limit).execute();
  return rows.map(toStoredEvent);
}

/** In the order of the chain. */
export async function readChained(
  db: Db,
  orgId: string,
  page: { readonly after: number; readonly limit: number },
): Promise<StoredEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("seq", ">", page.after)
    .orderBy("seq")
    .limit(page.limit)
    .execute();
  return rows.map(toStoredEvent);
}

/** Ids of unchained events, oldest first. @param page.after an id, or "" */
export async function readUnchainedIds(
  db: Db,
  orgId: string,
  page: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom("audit_event")
    .select("id")
    .where("org_id", "=", orgId)
    .where("seq", "is", null)
    .where("id", ">", page.after)
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** In the order of their ids. @param ids few enough for one statement */
export async function readEvents(db: Db, orgId: string, ids: readonly string[]): Promise<StoredEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .orderBy("id")
    .execute();
  return rows.map(toStoredEvent);
}

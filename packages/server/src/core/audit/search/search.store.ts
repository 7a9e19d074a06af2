/** Searches audit events by index and by sequence. */
import { sql } from "kysely";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { type StoredEvent, toStoredEvent } from "../audit.store.ts";
import { type MentionKind, mentionKinds } from "../event-context.ts";

/** A condition with an index of its own; the last four are of `audit_mention` and `audit_typed_email`. */
export interface IndexFilter {
  readonly column: OwnColumn | MentionKind | "email";
  readonly value: string;
}

type OwnColumn = "id" | "actor" | "action" | "target" | "address";

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

/** Terms of one compound SELECT: SQLite allows 500. */
const MAX_TERMS = 400;

/**
 * Events that match any of the index filters (all events without one), in the order of time. Each index holds this
 * order, so that no more rows are read than requested.
 */
export async function readRange(
  db: Db,
  indexFilters: readonly IndexFilter[],
  range: SequenceRange,
): Promise<StoredEvent[]> {
  const [first, ...others] = indexFilters.slice(0, MAX_TERMS).map((filter) => rangeQuery(db, filter, range));
  if (first === undefined || others.length === 0)
    return (await (first ?? rangeQuery(db, undefined, range)).execute()).map(toStoredEvent);
  const all = others.reduce((query, other) => query.unionAll(wrapped(db, other)), wrapped(db, first));
  // The first events overall are among the first events of each filter.
  const once = new Map((await all.execute()).map((row) => [row.id, toStoredEvent(row)]));
  const sign = range.order === "newest first" ? -1 : 1;
  return [...once.values()].sort((one, other) => sign * compare(one, other)).slice(0, range.limit);
}

/** How many events match any of the index filters, each counted once, and no further than `max`. */
export async function countRange(
  db: Db,
  indexFilters: readonly IndexFilter[],
  { orgId, from = 0, to = FAR_FUTURE, max }: Pick<SequenceRange, "orgId" | "from" | "to"> & { max: number },
): Promise<number> {
  const idsOf = (filter: IndexFilter | undefined) => {
    const { events, at } = source(db, orgId, filter);
    const within = events
      .select("audit_event.id as id")
      .where(sql<boolean>`${at} between ${from} and ${to - 1}`)
      .limit(max);
    return db.selectFrom(within.as("one")).selectAll();
  };
  const [first, ...others] = indexFilters.slice(0, MAX_TERMS);
  const all = others.reduce((query, other) => query.unionAll(idsOf(other)), idsOf(first));
  return countRows(db, db.selectFrom(all.as("found")).select("found.id").distinct().limit(max));
}

type RangeQuery = ReturnType<typeof rangeQuery>;

/** SQLite orders and limits a whole union, except within its terms. */
const wrapped = (db: Db, query: RangeQuery) => db.selectFrom(query.as("found")).selectAll();

const compare = (one: EventPosition, other: EventPosition): number =>
  one.at === other.at ? (one.id < other.id ? -1 : 1) : one.at - other.at;

const FAR_FUTURE = Number.MAX_SAFE_INTEGER;

/** Exported for the test of its plan. */
export function rangeQuery(
  db: Db,
  filter: IndexFilter | undefined,
  { orgId, from, to, after, order, limit }: SequenceRange,
) {
  const isNewestFirst = order === "newest first";
  const direction = isNewestFirst ? "desc" : "asc";
  const { events, at, id } = source(db, orgId, filter);
  const first = Math.max(from ?? 0, isNewestFirst ? 0 : (after?.at ?? 0));
  const last = Math.min((to ?? FAR_FUTURE) - 1, isNewestFirst ? (after?.at ?? FAR_FUTURE) : FAR_FUTURE);
  // As one term: for two, SQLite prefers the index of the time alone, and reads everybody's events.
  let query = events.selectAll("audit_event").where(sql<boolean>`${at} between ${first} and ${last}`);
  if (after) {
    const isBeyond = isNewestFirst ? sql`${id} < ${after.id}` : sql`${id} > ${after.id}`;
    query = query.where(sql<boolean>`(${at} <> ${after.at} or ${isBeyond})`);
  }
  return query.orderBy(at, direction).orderBy(id, direction).limit(limit);
}

/** The events of one filter, with the columns that its index is ordered by. */
function source(db: Db, orgId: string, filter: IndexFilter | undefined) {
  const events = db.selectFrom("audit_event");
  const own = { at: sql.ref<number>("audit_event.at"), id: sql.ref<string>("audit_event.id") };
  if (!filter) return { events: events.where("audit_event.org_id", "=", orgId), ...own };
  const { column, value } = filter;
  if (column !== "email" && !isMention(column))
    return {
      events: events.where("audit_event.org_id", "=", orgId).where(`audit_event.${column}`, "=", value),
      ...own,
    };
  const found = { at: sql.ref<number>("found.at"), id: sql.ref<string>("found.event_id") };
  if (column === "email")
    return {
      events: events
        .innerJoin("audit_typed_email as found", (join) =>
          join
            .onRef("found.org_id", "=", "audit_event.org_id")
            .onRef("found.event_id", "=", "audit_event.id"),
        )
        .where("found.org_id", "=", orgId)
        .where("found.email", "=", value),
      ...found,
    };
  return {
    events: events
      .innerJoin("audit_mention as found", (join) =>
        join.onRef("found.org_id", "=", "audit_event.org_id").onRef("found.event_id", "=", "audit_event.id"),
      )
      .where("found.org_id", "=", orgId)
      .where("found.kind", "=", column)
      .where("found.value", "=", value),
    ...found,
  };
}

const isMention = (column: OwnColumn | MentionKind): column is MentionKind =>
  Object.hasOwn(mentionKinds, column);

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

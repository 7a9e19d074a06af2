import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { type KeptEvent, keptEvent } from "../audit.store.ts";

/** What an index finds by itself. */
export interface Lead {
  readonly column: "actor" | "action" | "target" | "address";
  readonly value: string;
}

export interface Place {
  readonly at: number;
  readonly id: string;
}

export interface Stretch {
  readonly orgId: string;
  /** Milliseconds, from here on. */
  readonly from?: number | undefined;
  /** Milliseconds, up to but not including it. */
  readonly to?: number | undefined;
  /** Where the stretch before ended. */
  readonly after?: Place | undefined;
  readonly order: "newest first" | "oldest first";
  readonly limit: number;
}

/**
 * What one of the leads finds, or everything when there is none, in the order of time. Each lead is an index that holds
 * this order: no more rows are read than asked for.
 */
export async function readStretch(db: Db, leads: readonly Lead[], stretch: Stretch): Promise<KeptEvent[]> {
  const found = await Promise.all(
    leads.length === 0
      ? [readLead(db, undefined, stretch)]
      : leads.map((lead) => readLead(db, lead, stretch)),
  );
  if (found.length === 1) return found[0] ?? [];
  // Whatever is among the first of all is among the first of its lead.
  const once = new Map(found.flat().map((event) => [event.id, event]));
  const sign = stretch.order === "newest first" ? -1 : 1;
  return [...once.values()].sort((one, other) => sign * compare(one, other)).slice(0, stretch.limit);
}

const compare = (one: Place, other: Place): number =>
  one.at === other.at ? (one.id < other.id ? -1 : 1) : one.at - other.at;

async function readLead(db: Db, lead: Lead | undefined, stretch: Stretch): Promise<KeptEvent[]> {
  const { orgId, from, to, after, order, limit } = stretch;
  const isNewestFirst = order === "newest first";
  const direction = isNewestFirst ? "desc" : "asc";
  let query = db.selectFrom("audit_event").selectAll().where("org_id", "=", orgId);
  if (lead) query = query.where(lead.column, "=", lead.value);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (to !== undefined) query = query.where("at", "<", to);
  if (after)
    query = query.where(
      isNewestFirst
        ? sql<boolean>`(at, id) < (${after.at}, ${after.id})`
        : sql<boolean>`(at, id) > (${after.at}, ${after.id})`,
    );
  const rows = await query.orderBy("at", direction).orderBy("id", direction).limit(limit).execute();
  return rows.map(keptEvent);
}

/** In the order of the chain. */
export async function readChained(
  db: Db,
  orgId: string,
  page: { readonly after: number; readonly limit: number },
): Promise<KeptEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("seq", ">", page.after)
    .orderBy("seq")
    .limit(page.limit)
    .execute();
  return rows.map(keptEvent);
}

/** Of those that are not chained yet, the oldest first. @param page.after an id, or "" */
export async function readWaitingIds(
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

/** In the order of their ids. @param ids not too many for one statement */
export async function readEvents(db: Db, orgId: string, ids: readonly string[]): Promise<KeptEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .orderBy("id")
    .execute();
  return rows.map(keptEvent);
}

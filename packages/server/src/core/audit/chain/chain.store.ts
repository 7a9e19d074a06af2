/** Stores the hash chain of audit events and its head. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { toRecord, toRow } from "../../../db/records.ts";
import type { ChainedEvent, MovedHead } from "./link.ts";

export type UnchainedEvent = Omit<ChainedEvent, "seq">;

export interface Link {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
}

export type SignedHead = MovedHead & { readonly mac: string };

/** The first organisation, by id, with events to chain. @param after an organisation's id, or "" */
export async function nextOrganisationToChain(db: Db, after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("audit_event")
    .select("org_id")
    .where("seq", "is", null)
    .where("org_id", ">", after)
    .orderBy("org_id")
    .limit(1)
    .executeTakeFirst();
  return row?.org_id;
}

/** Locks and returns the head of the chain. @param first the head of an empty chain */
export async function lockHead(tx: Db, first: SignedHead): Promise<SignedHead> {
  await tx
    .insertInto("audit_chain")
    .values(toRow(first))
    .onConflict((conflict) => conflict.column("org_id").doNothing())
    .execute();
  const row = await tx
    .updateTable("audit_chain")
    .set((eb) => ({ seq: eb.ref("seq") }))
    .where("org_id", "=", first.orgId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRecord(row);
}

export async function findHead(db: Db, orgId: string): Promise<SignedHead | undefined> {
  const row = await db.selectFrom("audit_chain").selectAll().where("org_id", "=", orgId).executeTakeFirst();
  return row && toRecord(row);
}

/** Of any organisation that has events in its chain. */
export async function findAnyHead(db: Db): Promise<SignedHead | undefined> {
  const row = await db.selectFrom("audit_chain").selectAll().where("seq", ">", 0).limit(1).executeTakeFirst();
  return row && toRecord(row);
}

export async function moveHead(tx: Db, { orgId, seq, hash, mac, updatedAt }: SignedHead): Promise<void> {
  await tx
    .updateTable("audit_chain")
    .set({ seq, hash, mac, updated_at: updatedAt })
    .where("org_id", "=", orgId)
    .execute();
}

const members = ["org_id", "id", "at", "actor", "action", "target", "address", "details"] as const;

/** Oldest first. */
export async function findUnchained(db: Db, orgId: string, limit: number): Promise<UnchainedEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .select(members)
    .where("org_id", "=", orgId)
    .where("seq", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ org_id: orgId, ...event }) => ({ orgId, ...event }));
}

/** @returns the number of unchained events, counted up to `max` */
export async function countUnchained(db: Db, orgId: string, max: number): Promise<number> {
  const waiting = db
    .selectFrom("audit_event")
    .select("id")
    .where("org_id", "=", orgId)
    .where("seq", "is", null)
    .limit(max)
    .as("waiting");
  const row = await db
    .selectFrom(waiting)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** A chained event as stored, including columns that its hash doesn't cover. */
export type StoredLink = ChainedEvent & { readonly hash: string | null; readonly isChange: number };

/** Events of a chain, in order. @param page.after undefined: from the first event, whatever its position */
export async function findChained(
  db: Db,
  orgId: string,
  { after, until, limit }: { after: number | undefined; until?: number | undefined; limit: number },
): Promise<StoredLink[]> {
  const rows = await db
    .selectFrom("audit_event")
    .select([...members, "seq", "hash", "is_change as isChange"])
    .where("org_id", "=", orgId)
    .where((eb) => (after === undefined ? eb("seq", "is not", null) : eb("seq", ">", after)))
    .$if(until !== undefined, (query) => query.where("seq", "<=", until ?? 0))
    .orderBy("seq")
    .limit(limit)
    .execute();
  // The condition excludes null.
  return rows.map(({ org_id: orgId, seq, ...event }) => ({ orgId, seq: seq ?? 0, ...event }));
}

/** A few batch sizes, each prepared once. */
const BATCH_SIZES = [100, 10, 1];

/** @returns how many events were unchained until now */
export async function storeLinks(tx: Db, orgId: string, links: readonly Link[]): Promise<number> {
  let written = 0;
  for (let at = 0; at < links.length; ) {
    const size = BATCH_SIZES.find((batch) => batch <= links.length - at) ?? 1;
    written += await storeBatch(tx, orgId, links.slice(at, at + size));
    at += size;
  }
  return written;
}

async function storeBatch(tx: Db, orgId: string, links: readonly Link[]): Promise<number> {
  const values = links.map(({ id, seq, hash }) => sql`(${id}, ${seq}, ${hash})`);
  const { numAffectedRows } = await sql`with link (id, seq, hash) as (values ${sql.join(values)})
    update audit_event set seq = cast(link.seq as bigint), hash = link.hash from link
    where audit_event.org_id = ${orgId} and audit_event.id = link.id and audit_event.seq is null`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

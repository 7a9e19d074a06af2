import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { AuditChainTable } from "../../../db/tables/organisations.ts";
import type { ChainedEvent, MovedHead } from "./link.ts";

/** As an event is before it has its place. */
export type WaitingEvent = Omit<ChainedEvent, "seq">;

export interface Link {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
}

export type SignedHead = MovedHead & { readonly mac: string };

/** The first organisation, in the order of their ids, with events that wait. @param after an organisation's id, or "" */
export async function nextOrganisationWithWaiting(db: Db, after: string): Promise<string | undefined> {
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

/** The end of the chain, nobody else's until the transaction ends. @param first what there is when nothing is chained yet */
export async function holdHead(tx: Db, first: SignedHead): Promise<SignedHead> {
  await tx
    .insertInto("audit_chain")
    .values({
      org_id: first.orgId,
      seq: first.seq,
      hash: first.hash,
      mac: first.mac,
      updated_at: first.updatedAt,
    })
    .onConflict((conflict) => conflict.column("org_id").doNothing())
    .execute();
  const row = await tx
    .updateTable("audit_chain")
    .set((eb) => ({ seq: eb.ref("seq") }))
    .where("org_id", "=", first.orgId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return fromHeadRow(row);
}

export async function findHead(db: Db, orgId: string): Promise<SignedHead | undefined> {
  const row = await db.selectFrom("audit_chain").selectAll().where("org_id", "=", orgId).executeTakeFirst();
  return row && fromHeadRow(row);
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
export async function findWaiting(db: Db, orgId: string, limit: number): Promise<WaitingEvent[]> {
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

/** @returns how many wait, counted up to `most` */
export async function countWaiting(db: Db, orgId: string, most: number): Promise<number> {
  const waiting = db
    .selectFrom("audit_event")
    .select("id")
    .where("org_id", "=", orgId)
    .where("seq", "is", null)
    .limit(most)
    .as("waiting");
  const row = await db
    .selectFrom(waiting)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** As an event is kept in its chain: with what its hash is not over. */
export type PlacedEvent = ChainedEvent & { readonly hash: string | null; readonly isChange: number };

/** Of a chain, in its order. @param page.after undefined: from the first that there is, whatever its place is called */
export async function findChained(
  db: Db,
  orgId: string,
  page: {
    readonly after: number | undefined;
    readonly until?: number | undefined;
    readonly limit: number;
  },
): Promise<PlacedEvent[]> {
  const { after } = page;
  const rows = await db
    .selectFrom("audit_event")
    .select([...members, "seq", "hash", "is_change as isChange"])
    .where("org_id", "=", orgId)
    .where((eb) => (after === undefined ? eb("seq", "is not", null) : eb("seq", ">", after)))
    .$if(page.until !== undefined, (query) => query.where("seq", "<=", page.until ?? 0))
    .orderBy("seq")
    .limit(page.limit)
    .execute();
  // The condition leaves none without.
  return rows.map(({ org_id: orgId, seq, ...event }) => ({ orgId, seq: seq ?? 0, ...event }));
}

/** Few sizes of statement, each prepared once. */
const PIECES = [100, 10, 1];

/** @returns how many events had waited until now */
export async function writeLinks(tx: Db, orgId: string, links: readonly Link[]): Promise<number> {
  let written = 0;
  for (let at = 0; at < links.length; ) {
    const size = PIECES.find((piece) => piece <= links.length - at) ?? 1;
    written += await writePiece(tx, orgId, links.slice(at, at + size));
    at += size;
  }
  return written;
}

async function writePiece(tx: Db, orgId: string, links: readonly Link[]): Promise<number> {
  const values = links.map(({ id, seq, hash }) => sql`(${id}, ${seq}, ${hash})`);
  const { numAffectedRows } = await sql`with link (id, seq, hash) as (values ${sql.join(values)})
    update audit_event set seq = cast(link.seq as bigint), hash = link.hash from link
    where audit_event.org_id = ${orgId} and audit_event.id = link.id and audit_event.seq is null`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

const fromHeadRow = (row: AuditChainTable): SignedHead => ({
  orgId: row.org_id,
  seq: row.seq,
  hash: row.hash,
  mac: row.mac,
  updatedAt: row.updated_at,
});

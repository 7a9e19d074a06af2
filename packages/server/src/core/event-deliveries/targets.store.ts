/** The queues of the targets of events: their places in the audit chain, and who sends from them. */
import { sql } from "kysely";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";
import type { EventTarget, TargetKey } from "./target-kind.ts";

export interface Flow {
  readonly isFed: boolean;
  readonly isSent: boolean;
}

/** It takes what is chained from now on. */
export async function insertTarget(
  tx: Db,
  { orgId, id, kind, isFed, isSent }: TargetKey & Flow & { readonly kind: string },
): Promise<void> {
  await tx
    .insertInto("event_target")
    .values({
      ...{ org_id: orgId, id, kind, is_fed: isFed ? 1 : 0, is_sent: isSent ? 1 : 0 },
      ...{ cursor_seq: await chainedSeq(tx, orgId), last_position: 0, due_at: null },
      ...{ claim: null, claimed_until: 0 },
    })
    .execute();
}

async function chainedSeq(db: Db, orgId: string): Promise<number> {
  const row = await db.selectFrom("audit_chain").select("seq").where("org_id", "=", orgId).executeTakeFirst();
  return row?.seq ?? 0;
}

/** What it has in its queue stays. @param skips whether it leaves out what happened while it was not fed */
export async function setFlow(
  tx: Db,
  { orgId, id }: TargetKey,
  { isFed, isSent, skips }: Flow & { readonly skips: boolean },
): Promise<void> {
  const cursor = skips ? { cursor_seq: await chainedSeq(tx, orgId) } : {};
  await tx
    .updateTable("event_target")
    .set({ is_fed: isFed ? 1 : 0, is_sent: isSent ? 1 : 0, ...cursor })
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** With its deliveries. */
export async function deleteTarget(tx: Db, { orgId, id }: TargetKey): Promise<void> {
  await tx
    .deleteFrom("event_delivery")
    .where((eb) => allOf(eb, { org_id: orgId, target_id: id }))
    .execute();
  await tx
    .deleteFrom("event_target")
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

/** Its place is before this one of the chain's. */
export type TargetBehind = EventTarget & { readonly chainSeq: number };

/** Targets of the organisation that have not taken all of its chain. */
export async function listTargetsBehind(
  db: Db,
  orgId: string,
  kinds: readonly string[],
): Promise<TargetBehind[]> {
  const rows = await db
    .selectFrom("event_target")
    .innerJoin("audit_chain", "audit_chain.org_id", "event_target.org_id")
    .selectAll("event_target")
    .select("audit_chain.seq as chain_seq")
    .where("event_target.org_id", "=", orgId)
    .where("event_target.kind", "in", kinds)
    .where("event_target.is_fed", "=", 1)
    .whereRef("audit_chain.seq", ">", "event_target.cursor_seq")
    .orderBy("event_target.id")
    .execute();
  return rows.map(toRecord);
}

/** @param after an organisation's id, or "" */
export async function listOrganisationsBehind(
  db: Db,
  {
    after,
    limit,
    kinds,
  }: { readonly after: string; readonly limit: number; readonly kinds: readonly string[] },
): Promise<string[]> {
  const rows = await db
    .selectFrom("event_target")
    .innerJoin("audit_chain", "audit_chain.org_id", "event_target.org_id")
    .select("event_target.org_id")
    .distinct()
    .where("event_target.kind", "in", kinds)
    .where("event_target.is_fed", "=", 1)
    .whereRef("audit_chain.seq", ">", "event_target.cursor_seq")
    .where("event_target.org_id", ">", after)
    .orderBy("event_target.org_id")
    .limit(limit)
    .execute();
  return rows.map(({ org_id }) => org_id);
}

/** Moves a target along the chain. @returns its last position before, or undefined: another node has moved it */
export async function moveCursor(
  tx: Db,
  { orgId, id, cursorSeq }: EventTarget,
  { to, count, now }: { readonly to: number; readonly count: number; readonly now: number },
): Promise<number | undefined> {
  const row = await tx
    .updateTable("event_target")
    .set((eb) => ({
      cursor_seq: to,
      last_position: eb("last_position", "+", count),
      ...(count > 0 ? { due_at: eb.fn.coalesce("due_at", sql<number>`cast(${now} as bigint)`) } : {}),
    }))
    .where((eb) => allOf(eb, { org_id: orgId, id, cursor_seq: cursorSeq, is_fed: 1 }))
    .returning("last_position")
    .executeTakeFirst();
  return row && row.last_position - count;
}

/** Makes room at the end of a queue, which is looked at at once. @returns the last position before, if it exists */
export async function extendQueue(
  tx: Db,
  { orgId, id }: TargetKey,
  { count, now }: { readonly count: number; readonly now: number },
): Promise<number | undefined> {
  const row = await tx
    .updateTable("event_target")
    .set((eb) => ({ last_position: eb("last_position", "+", count), due_at: now }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returning("last_position")
    .executeTakeFirst();
  return row && row.last_position - count;
}

export interface DueTarget extends TargetKey {
  readonly kind: string;
  readonly dueAt: number;
}

interface DueSearch {
  readonly now: number;
  readonly limit: number;
  /** Organisations to leave out. */
  readonly full: readonly string[];
  /** Those that this version knows. */
  readonly kinds: readonly string[];
}

/** Of all organisations, the longest waiting first. */
export async function listDueTargets(db: Db, { now, limit, full, kinds }: DueSearch): Promise<DueTarget[]> {
  const rows = await db
    .selectFrom("event_target")
    .select(["org_id as orgId", "id", "kind", "due_at as dueAt"])
    .where("due_at", "<=", now)
    .where("is_sent", "=", sql.lit(1))
    .where("kind", "in", kinds)
    .where("claimed_until", "<=", now)
    .$if(full.length > 0, (query) => query.where("org_id", "not in", [...full]))
    .orderBy("due_at")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, dueAt: row.dueAt ?? now }));
}

export interface Claim {
  readonly claim: string;
  readonly now: number;
  readonly until: number;
}

/** One node at a time. @returns false when another one was faster, or nothing is due any more */
export const claimTarget = (
  db: Db,
  { orgId, id }: TargetKey,
  { claim, now, until }: Claim,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("event_target")
      .set({ claim, claimed_until: until })
      .where((eb) => allOf(eb, { org_id: orgId, id, is_sent: 1 }))
      .where("due_at", "<=", now)
      .where("claimed_until", "<=", now),
  );

/** @returns its last position, or undefined when it is claimed by another node, or not sent from any more */
export async function renewClaim(
  db: Db,
  { orgId, id }: TargetKey,
  { claim, until }: Omit<Claim, "now">,
): Promise<number | undefined> {
  const row = await db
    .updateTable("event_target")
    .set({ claimed_until: until })
    .where((eb) => allOf(eb, { org_id: orgId, id, claim, is_sent: 1 }))
    .returning("last_position")
    .executeTakeFirst();
  return row?.last_position;
}

/**
 * Gives a claim back.
 * @param at when the queue is looked at again; null: when something comes. @param position as it was when that was found
 * @returns false when the queue has grown since, or the claim is another's
 */
export const releaseTarget = (
  db: Db,
  { orgId, id }: TargetKey,
  { claim, position, at }: { readonly claim: string; readonly position: number; readonly at: number | null },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("event_target")
      .set({ claim: null, claimed_until: 0, due_at: at })
      .where((eb) => allOf(eb, { org_id: orgId, id, claim, last_position: position })),
  );

/** Gives a claim back whatever has come. */
export async function dropClaim(
  db: Db,
  { orgId, id }: TargetKey,
  { claim, at }: { readonly claim: string; readonly at?: number },
): Promise<void> {
  await db
    .updateTable("event_target")
    .set({ claim: null, claimed_until: 0, ...(at === undefined ? {} : { due_at: at }) })
    .where((eb) => allOf(eb, { org_id: orgId, id, claim }))
    .execute();
}

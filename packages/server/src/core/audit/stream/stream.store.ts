/** How far each organisation's audit log has been sent to the audit stream. */
import { sql } from "kysely";
import { affectsAny, hasRow } from "../../../db/affected.ts";
import type { Db } from "../../../db/open.ts";

export interface StreamPosition {
  readonly orgId: string;
  /** The last event that was sent; 0 before the first. */
  readonly streamedSeq: number;
  /** The last event that is chained. */
  readonly seq: number;
}

/** Organisations with events to send, by id. @param after an organisation's id, or "" */
export async function findUnsent(db: Db, after: string, limit: number): Promise<StreamPosition[]> {
  const rows = await db
    .selectFrom("audit_chain")
    .select(["org_id as orgId", "streamed_seq as streamedSeq", "seq"])
    .whereRef("seq", ">", "streamed_seq")
    .where("org_id", ">", after)
    .orderBy("org_id")
    .limit(limit)
    .execute();
  return rows;
}

/** @returns false when another node has sent from there meanwhile */
export const movePosition = (db: Db, { orgId, streamedSeq }: StreamPosition, to: number): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("audit_chain")
      .set({ streamed_seq: to })
      .where("org_id", "=", orgId)
      .where("streamed_seq", "=", streamedSeq),
  );

/** Chained events of all organisations that were not sent yet, for metrics. */
export async function countUnsent(db: Db): Promise<number> {
  const { rows } = await sql<{ unsent: number }>`select coalesce(sum(seq - streamed_seq), 0) as unsent
    from audit_chain where seq > streamed_seq`.execute(db);
  return Number(rows[0]?.unsent ?? 0);
}

/** Whether something of the organisation was not sent, or waits to be chained. */
export async function hasUnsent(db: Db, orgId: string): Promise<boolean> {
  const behind = db
    .selectFrom("audit_chain")
    .select("org_id")
    .where("org_id", "=", orgId)
    .whereRef("seq", ">", "streamed_seq");
  const unchained = db.selectFrom("audit_event").select("id").where("org_id", "=", orgId);
  return (await hasRow(behind)) || hasRow(unchained.where("seq", "is", null).limit(1));
}

/** The lease of the node that sends. */
export const STREAM_LEASE = "audit-stream";
const IN_USE_MS = 30 * 86_400_000;

/** Whether any node has sent, or tried to, in the last month: this one may be without SIGNET_AUDIT_STREAM. */
export const isStreamInUse = (db: Db, now: number): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("background_lease")
      .select("name")
      .where("name", "=", STREAM_LEASE)
      .where("expires_at", ">", now - IN_USE_MS),
  );

/** The last event of an organisation that was sent; 0 before the first. */
export async function findStreamedSeq(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom("audit_chain")
    .select("streamed_seq as streamedSeq")
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row?.streamedSeq ?? 0;
}

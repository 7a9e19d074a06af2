import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { OutgoingMailTable } from "../../db/tables/messages.ts";
import type { MailTemplate } from "./mail.ts";

export interface StoredMail {
  readonly orgId: string;
  readonly id: string;
  readonly recipient: string;
  readonly template: MailTemplate;
  readonly locale: string;
  /** Empty once it is sent or given up. */
  readonly sealed: string;
  /** Attempts, including the current one. */
  readonly attempts: number;
  readonly createdAt: number;
  readonly giveUpAt: number;
}

export async function insertMail(db: Db, mail: StoredMail & { failedAt: number | null }): Promise<void> {
  await db
    .insertInto("outgoing_mail")
    .values({
      org_id: mail.orgId,
      id: mail.id,
      recipient: mail.recipient,
      template: mail.template,
      locale: mail.locale,
      data: mail.sealed,
      attempts: mail.attempts,
      next_attempt_at: mail.createdAt,
      give_up_at: mail.giveUpAt,
      created_at: mail.createdAt,
      sent_at: null,
      failed_at: mail.failedAt,
      last_error: null,
    })
    .execute();
}

/**
 * Due emails, the longest waiting first; only a few of each organisation, so that a rush in one doesn't delay the
 * others.
 */
export async function findDueMails(
  db: Db,
  now: number,
  limits: { all: number; each: number },
): Promise<StoredMail[]> {
  const rows = await db
    .selectFrom((inner) =>
      inner
        .selectFrom("outgoing_mail")
        .selectAll()
        .select(sql<number>`row_number() over (partition by org_id order by next_attempt_at, id)`.as("place"))
        .where("next_attempt_at", "<=", now)
        .where("sent_at", "is", null)
        .where("failed_at", "is", null)
        .as("due"),
    )
    .selectAll()
    .where("place", "<=", limits.each)
    .orderBy("next_attempt_at")
    .limit(limits.all)
    .execute();
  return rows.map(fromRow);
}

type MailKey = { readonly orgId: string; readonly id: string };

/**
 * Claims a due email for one attempt until `until`; it is due again if the node dies.
 * @returns undefined when another node was faster
 */
export async function claimMail(
  db: Db,
  key: MailKey,
  { now, until }: { now: number; until: number },
): Promise<StoredMail | undefined> {
  const row = await db
    .updateTable("outgoing_mail")
    .set((eb) => ({ attempts: eb("attempts", "+", 1), next_attempt_at: until }))
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .where("next_attempt_at", "<=", now)
    .where("sent_at", "is", null)
    .where("failed_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

export type MailOutcome =
  /** @param keepsContent keeps the content readable, for the mailbox of demo mode */
  | { readonly sentAt: number; readonly keepsContent: boolean }
  | { readonly nextAttemptAt: number; readonly error: string }
  | { readonly failedAt: number; readonly error: string };

export async function recordMailOutcome(db: Db, key: MailKey, outcome: MailOutcome): Promise<void> {
  const gone = { data: "" };
  let change: Partial<OutgoingMailTable>;
  if ("sentAt" in outcome)
    change = { sent_at: outcome.sentAt, last_error: null, ...(outcome.keepsContent ? {} : gone) };
  else if ("failedAt" in outcome)
    change = { failed_at: outcome.failedAt, last_error: outcome.error, ...gone };
  else change = { next_attempt_at: outcome.nextAttemptAt, last_error: outcome.error };
  await db
    .updateTable("outgoing_mail")
    .set(change)
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .where("sent_at", "is", null)
    .execute();
}

const readable = (db: Db) =>
  db.selectFrom("outgoing_mail").selectAll().where("failed_at", "is", null).where("data", "<>", "");

/** Newest first, of all organisations: for the mailbox of demo mode only. */
export async function listReadableMails(db: Db, limit: number): Promise<StoredMail[]> {
  return (await readable(db).orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute()).map(
    fromRow,
  );
}

/** For the mailbox of demo mode only. */
export async function findReadableMail(db: Db, id: string): Promise<StoredMail | undefined> {
  const row = await readable(db).where("id", "=", id).executeTakeFirst();
  return row && fromRow(row);
}

/** @returns how many were removed, at most `limit` */
export async function deleteOldMails(db: Db, before: number, limit: number): Promise<number> {
  const old = await db
    .selectFrom("outgoing_mail")
    .select(["org_id", "id"])
    .where("created_at", "<", before)
    .orderBy("created_at")
    .limit(limit)
    .execute();
  for (const { org_id, id } of old) {
    await db.deleteFrom("outgoing_mail").where("org_id", "=", org_id).where("id", "=", id).execute();
  }
  return old.length;
}

function fromRow(row: OutgoingMailTable): StoredMail {
  return {
    orgId: row.org_id,
    id: row.id,
    recipient: row.recipient,
    template: row.template as MailTemplate,
    locale: row.locale,
    sealed: row.data,
    attempts: row.attempts,
    createdAt: row.created_at,
    giveUpAt: row.give_up_at,
  };
}

import type { Db } from "../../db/open.ts";
import type { OutgoingMailTable } from "../../db/tables/messages.ts";
import type { OutboxTable } from "../outbox/outbox.store.ts";
import type { MailTemplate } from "./mail.ts";

/** Of one organisation only a few mails at a time: a rush there does not hold up the others. */
export const outgoingMails: OutboxTable<"outgoing_mail"> = {
  name: "outgoing_mail",
  deliveredAt: "sent_at",
  queueBy: ["org_id"],
  erased: { data: "" },
};

export interface StoredMail {
  readonly orgId: string;
  readonly id: string;
  readonly recipient: string;
  readonly template: MailTemplate;
  readonly locale: string;
  /** Empty once it has left the house for good. */
  readonly sealed: string;
  /** How often it was tried, the try under way included. */
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

const readable = (db: Db) =>
  db.selectFrom("outgoing_mail").selectAll().where("failed_at", "is", null).where("data", "<>", "");

/** Newest first, of every organisation: for the mailbox of demo mode alone. */
export async function listReadableMails(db: Db, limit: number): Promise<StoredMail[]> {
  return (await readable(db).orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute()).map(
    storedMail,
  );
}

/** For the mailbox of demo mode alone. */
export async function findReadableMail(db: Db, id: string): Promise<StoredMail | undefined> {
  const row = await readable(db).where("id", "=", id).executeTakeFirst();
  return row && storedMail(row);
}

export function storedMail(row: OutgoingMailTable): StoredMail {
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

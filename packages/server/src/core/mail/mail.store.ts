/** Stores outgoing emails. */
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { OutgoingMailTable } from "../../db/tables/messages.ts";
import type { OutboxTable } from "../outbox/outbox.store.ts";
import type { MailTemplate } from "./mail.ts";

/** Of one organisation only a few mails at a time: a rush there does not hold up the others. */
export const outgoingMails: OutboxTable<"outgoing_mail"> = {
  name: "outgoing_mail",
  deliveredAt: "sent_at",
  queueBy: "org_id",
  erased: { data: "" },
};

type Sending = "next_attempt_at" | "sent_at" | "failed_at" | "last_error";

export interface StoredMail extends RecordOf<Omit<OutgoingMailTable, "data" | "template" | Sending>> {
  readonly template: MailTemplate;
  /** Empty once it is sent or given up. */
  readonly sealed: string;
}

export async function insertMail(
  db: Db,
  { sealed: data, ...mail }: StoredMail & { sentAt: number | null },
): Promise<void> {
  const sending = { nextAttemptAt: mail.createdAt, failedAt: null, lastError: null };
  await db
    .insertInto("outgoing_mail")
    .values(toRow({ ...mail, data, ...sending }))
    .execute();
}

/** Without decoys, which have no recipient. */
const readable = (db: Db) =>
  db
    .selectFrom("outgoing_mail")
    .selectAll()
    .where("failed_at", "is", null)
    .where("data", "<>", "")
    .where("recipient", "<>", "");

/** Newest first, of all organisations: for the mailbox of demo mode only. */
export async function listReadableMails(db: Db, limit: number): Promise<StoredMail[]> {
  return (await readable(db).orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute()).map(
    storedMail,
  );
}

/** For the mailbox of demo mode only. */
export async function findReadableMail(db: Db, id: string): Promise<StoredMail | undefined> {
  const row = await readable(db).where("id", "=", id).executeTakeFirst();
  return row && storedMail(row);
}

export function storedMail({ data: sealed, ...row }: OutgoingMailTable): StoredMail {
  const { sent_at, failed_at, last_error, next_attempt_at, ...mail } = row;
  return { ...toRecord(mail), template: row.template as MailTemplate, sealed };
}

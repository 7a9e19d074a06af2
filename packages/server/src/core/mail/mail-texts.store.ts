/** Stores the texts of emails that organisations have written themselves. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { MailTextTable } from "../../db/tables/messages.ts";
import { type MailText, mailTextFields } from "./mail-text.ts";

export interface MailTextKey {
  readonly orgId: string;
  readonly template: string;
  /** The language of a message file. */
  readonly locale: string;
}

export interface StoredMailText extends MailTextKey {
  readonly text: MailText;
  readonly updatedAt: number;
}

const keyOf = ({ orgId, template, locale }: MailTextKey) => ({ org_id: orgId, template, locale });

export async function findMailText(db: Db, key: MailTextKey): Promise<StoredMailText | undefined> {
  const row = await db
    .selectFrom("mail_text")
    .selectAll()
    .where((eb) => allOf(eb, keyOf(key)))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** By template and language: at most one of each. */
export async function listMailTexts(db: Db, orgId: string): Promise<StoredMailText[]> {
  const rows = db.selectFrom("mail_text").selectAll().where("org_id", "=", orgId);
  return (await rows.orderBy("template").orderBy("locale").execute()).map(fromRow);
}

/** Replaces the whole text. */
export async function saveMailText(db: Db, { text, updatedAt, ...key }: StoredMailText): Promise<void> {
  const { subject = null, heading = null, body = null, button = null } = text;
  const content = { subject, heading, body, button, updated_at: updatedAt };
  await db
    .insertInto("mail_text")
    .values({ ...keyOf(key), ...content })
    .onConflict((conflict) => conflict.columns(["org_id", "template", "locale"]).doUpdateSet(content))
    .execute();
}

/** @returns false when there was none */
export const deleteMailText = (db: Db, key: MailTextKey): Promise<boolean> =>
  affectsAny(db.deleteFrom("mail_text").where((eb) => allOf(eb, keyOf(key))));

const fromRow = (row: MailTextTable): StoredMailText => ({
  orgId: row.org_id,
  template: row.template,
  locale: row.locale,
  text: Object.fromEntries(
    mailTextFields.flatMap((field) => {
      const value = row[field];
      return value === null ? [] : [[field, value]];
    }),
  ),
  updatedAt: row.updated_at,
});

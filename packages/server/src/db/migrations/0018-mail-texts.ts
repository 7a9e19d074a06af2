/** Texts of emails that an organisation has written itself. */
import type { Migration } from "./migration.ts";

export const mailTexts: Migration = {
  name: "0018-mail-texts",
  statements: [
    // Null where the built-in text stands.
    `create table mail_text (
      org_id text not null references organisation (id) on delete cascade,
      template text not null, locale text not null,
      subject text, heading text, body text, button text, updated_at bigint not null,
      primary key (org_id, template, locale))`,
  ],
};

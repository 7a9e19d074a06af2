/** Emails that sign in: the sign-in that waits for the code, and the link that may stand for it (connections.md §6). */
import type { Migration } from "./migration.ts";

export const emailSignIns: Migration = {
  name: "0046-email-sign-ins",
  statements: [
    "alter table email_code add column link_hash text",
    "alter table email_code add column flow text",
    "create unique index email_code_link on email_code (org_id, link_hash) where link_hash is not null",
  ],
};

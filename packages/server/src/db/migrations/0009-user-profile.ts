/** The optional standard claims of a user (OpenID Connect Core §5.1), and when a user's claims last changed. */
import type { Migration } from "./migration.ts";

export const userProfile: Migration = {
  name: "0009-user-profile",
  statements: [
    // JSON object; null without any. Null in the second for accounts whose claims have not changed since this step.
    "alter table user_account add column profile text",
    "alter table user_account add column profile_changed_at bigint",
  ],
};

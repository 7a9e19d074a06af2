/** Attempts that are being checked, and accounts that may tell the end user's address. */
import type { Migration } from "./migration.ts";

export const placesOfAttempts: Migration = {
  name: "0010-places-of-attempts",
  statements: [
    "alter table rate_limit add column pending bigint not null default 0",
    "alter table rate_limit add column pending_before bigint not null default 0",
    "alter table rate_limit add column generation bigint not null default 0",
    "alter table system_account add column allow_end_user_address smallint not null default 0",
  ],
};

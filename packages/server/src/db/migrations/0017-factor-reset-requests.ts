/** Users who have lost every second factor and ask the administrators to reset them. */
import type { Migration } from "./migration.ts";

export const factorResetRequests: Migration = {
  name: "0017-factor-reset-requests",
  statements: [
    // One of each user; the home organisation's, which alone changes the account.
    `create table factor_reset_request (
      org_id text not null, user_id text not null, requested_at bigint not null,
      primary key (org_id, user_id),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade)`,
    "create index factor_reset_request_time on factor_reset_request (org_id, requested_at)",
  ],
};

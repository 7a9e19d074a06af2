/** Approvals of several agents for one signature by a whole key (threshold-and-ledger.md §1). */
import type { Migration } from "./migration.ts";

export const approvals: Migration = {
  name: "0074-approvals",
  statements: [
    "alter table signing_pool add column approvals bigint not null default 1",
    "alter table signing_request add column approvals text",
  ],
};

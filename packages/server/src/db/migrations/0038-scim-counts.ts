/** How many users a connection sees is counted from indices: those that were deprovisioned are few. */
import type { Migration } from "./migration.ts";

export const scimCounts: Migration = {
  name: "0038-scim-counts",
  statements: [
    "create index scim_user_deleted on scim_user (org_id, connection_id) where deleted_at is not null",
  ],
};

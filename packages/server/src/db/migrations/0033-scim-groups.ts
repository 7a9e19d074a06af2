/** Groups that connections provision: found by their connection, one `externalId` each, and when their members last changed. */
import type { Migration } from "./migration.ts";

export const scimGroups: Migration = {
  name: "0033-scim-groups",
  statements: [
    "alter table user_group add column members_changed_at bigint",
    `create index user_group_connection on user_group (org_id, connection_id, id)
      where connection_id is not null`,
    `create unique index user_group_external_id on user_group (org_id, connection_id, external_id)
      where connection_id is not null and external_id is not null`,
  ],
};

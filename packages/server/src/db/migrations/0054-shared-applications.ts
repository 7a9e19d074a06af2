/** Applications that other organisations have enabled: a copy in each, which follows its home (connections.md §7). */
import type { Migration } from "./migration.ts";

export const sharedApplications: Migration = {
  name: "0054-shared-applications",
  statements: [
    "alter table application add column home_org_id text",
    "alter table application add column granted_scopes text",
    "create index application_copies on application (home_org_id, id, org_id) where home_org_id is not null",
  ],
};

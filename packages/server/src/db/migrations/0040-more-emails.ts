/**
 * The email addresses of a provisioned user beside the account's, so that a search by address reads the few rows that have any. A row
 * that a version before this one wrote may have more in it than addresses, until the directory writes the user again.
 */
import type { Migration } from "./migration.ts";

export const moreEmails: Migration = {
  name: "0040-more-emails",
  statements: [
    "alter table scim_user add column more_emails text",
    `update scim_user set more_emails = lower(resource) where resource like '%"emails":[%"value"%"value"%'`,
    `create index scim_user_more_emails on scim_user (org_id, connection_id) where more_emails is not null`,
  ],
};

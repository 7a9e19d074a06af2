/** Saved filters of every list of the console; those that are there are the audit log's. */
import type { Migration } from "./migration.ts";

export const savedFilters: Migration = {
  name: "0025-saved-filters",
  statements: ["alter table audit_filter add column list text not null default 'audit-log'"],
};

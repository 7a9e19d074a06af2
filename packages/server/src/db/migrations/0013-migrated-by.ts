/** Which version has applied a migration: an older one says which to install instead. */
import type { Migration } from "./migration.ts";

export const migratedBy: Migration = {
  name: "0013-migrated-by",
  // Null where it was applied before this step.
  statements: ["alter table schema_migration add column version text"],
};
